"""From where somebody logs in, as far as guesses are counted by it."""

import ipaddress

IPV6_PREFIX = 64  # of one line or one phone; the rest of an address changes daily


def shorten_address(text: str) -> str:
    """IPv4 as it is, also where it is embedded in IPv6; of IPv6 the network. Anything else as it is."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((int(address), IPV6_PREFIX), strict=False))
    return str(address)
