"""A caller that does as much as it can, in a process of its own: `python attackers.py <plan>` until its input ends.

The plan is a JSON file: address, token, and requests as [method, path, content type, file of the body or null]. Each of
`threads` connections sends the requests in turn, again and again.
"""

import json
import os
import sys
import threading
from collections import Counter
from http.client import HTTPConnection, HTTPException
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import urlsplit


class Attack:
    def __init__(self, plan):
        self.plan = plan
        self.bodies = {file: Path(file).read_bytes() for _, _, _, file in plan["requests"] if file}
        self.statuses = Counter()
        self.without_retry_after = 0
        self.stopping = threading.Event()

    def run(self, number):
        requests = self.plan["requests"]
        address = urlsplit(self.plan["address"])
        for method, path, media_type, file in islice(cycle(requests), number, None):
            connection = HTTPConnection(address.hostname, address.port, timeout=200)
            headers = {"Authorization": f"Bearer {self.plan['token']}"} | (
                {"Content-Type": media_type} if media_type else {}
            )
            pause = 0.02
            try:
                connection.request(method, path, self.bodies.get(file), headers)
                answer = connection.getresponse()
                while answer.read(1 << 20):
                    pass
            except (HTTPException, OSError) as error:
                self.statuses[type(error).__name__] += 1
            else:
                self.statuses[answer.status] += 1
                if answer.status == 429:
                    seconds = answer.headers.get("Retry-After") or ""
                    self.without_retry_after += not seconds.isdigit()
                    pause = int(seconds or 1)  # who does not keep to it is for a proxy to stop
            finally:
                connection.close()
            if self.stopping.wait(pause):
                return


def main():
    os.nice(10)
    attack = Attack(json.loads(Path(sys.argv[1]).read_text()))
    threads = [
        threading.Thread(target=attack.run, args=(number,), daemon=True) for number in range(attack.plan["threads"])
    ]
    for thread in threads:
        thread.start()
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    sys.stdin.read()
    attack.stopping.set()
    for thread in threads:  # what was asked for is waited for: afterwards the service has nothing more to do for it
        thread.join()
    told = {str(key): count for key, count in attack.statuses.items()}
    sys.stdout.write(json.dumps({"statuses": told, "without_retry_after": attack.without_retry_after}) + "\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
