"""Encrypting credentials: the endpoint, the certificate, both paddings, rotation, and keys at rest."""

import base64
from datetime import UTC, datetime

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import load_der_private_key

from kontor.bootstrap import load_master_key
from kontor.domain.errors import InvalidError
from kontor.storage import keys
from kontor.storage.keys import KeyUnusableError, SealingKey, generate_key

MEDIA_TYPE = "application/octet-stream+base64"


@pytest.fixture
def encrypt(shared):
    def put(content, media_type=MEDIA_TYPE, headers=None):
        return shared.http.put(
            "/encrypt", content=content, headers=(headers or shared.as_user) | {"Content-Type": media_type}
        )

    return put


def read_certificate(tenant):
    answer = tenant.http.get(f"{tenant.url}/certificate")
    assert answer.status_code == 200
    return x509.load_pem_x509_certificate(answer.content)


def encrypt_under(certificate, plaintext, algorithm):
    scheme = padding.OAEP(mgf=padding.MGF1(algorithm()), algorithm=algorithm(), label=None)
    return base64.b64encode(certificate.public_key().encrypt(plaintext, scheme)).decode()


async def tenant_id_of(services, tenant):
    return (await services.tenant_administration.find_tenant(tenant.name)).id


# The endpoint


@pytest.mark.parametrize("plaintext", [b"x", b"a PIN: 12345", "Schlüßel €".encode(), b"x" * 256])
async def test_encrypted_value_is_readable_with_the_tenants_key(standing_services, shared, encrypt, plaintext):
    answer = encrypt(base64.b64encode(plaintext))
    assert (answer.status_code, answer.headers["content-type"]) == (200, MEDIA_TYPE)
    assert len(base64.b64decode(answer.content, validate=True)) == 384
    assert b"\n" not in answer.content
    tenant_id = await tenant_id_of(standing_services, shared)
    read = await standing_services.encryption.decrypt(tenant_id, {"pin": answer.text})
    assert read["pin"].reveal() == plaintext.decode()


async def test_encrypted_value_is_oaep_with_sha_256(settings, standing_services, shared, encrypt):
    ciphertext = base64.b64decode(encrypt(base64.b64encode(b"secret")).content)
    tenant_id = await tenant_id_of(standing_services, shared)
    async with standing_services.database.connect() as connection:
        (raw,) = await keys.load_private_keys(connection, load_master_key(settings), tenant_id)
    private = load_der_private_key(raw, None)
    scheme = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)
    assert private.decrypt(ciphertext, scheme) == b"secret"
    weak = padding.OAEP(mgf=padding.MGF1(hashes.SHA1()), algorithm=hashes.SHA1(), label=None)
    with pytest.raises(ValueError):
        private.decrypt(ciphertext, weak)


def test_same_value_is_never_encrypted_alike(encrypt):
    assert encrypt(b"eA==").content != encrypt(b"eA==").content


@pytest.mark.parametrize(
    "content", [b"", b"  ", b"=", b"x", b"not base64!", b"eA=", b"\xff", b"\x00", b"eA==\x00", "ü".encode()]
)
def test_bad_base64_is_400(encrypt, content):
    assert encrypt(content).status_code == 400


@pytest.mark.parametrize("length", [257, 319, 5000, 700_000])
def test_more_than_256_bytes_are_400(encrypt, length):
    answer = encrypt(base64.b64encode(b"x" * length))
    assert (answer.status_code, "256" in answer.json()["message"]) == (400, True)


@pytest.mark.parametrize("media_type", ["application/json", "text/plain", "application/octet-stream", ""])
def test_wrong_content_type_is_415(encrypt, media_type):
    assert encrypt(b"eA==", media_type).status_code == 415


async def test_value_of_one_tenant_is_unreadable_for_another(standing_services, shared, neighbour, encrypt):
    value = encrypt(base64.b64encode(b"secret")).text
    with pytest.raises(InvalidError):
        await standing_services.encryption.decrypt(await tenant_id_of(standing_services, neighbour), {"pin": value})


def test_there_is_no_way_to_decrypt_over_the_api(shared):
    paths = shared.http.get("/openapi.json").json()["paths"]
    assert not [path for path in paths if "decrypt" in path]
    assert shared.http.put("/decrypt", headers=shared.as_admin).status_code == 404


# The certificate


def test_certificate_is_public_and_fits_the_tenant(shared):
    answer = shared.http.get(f"{shared.url}/certificate")
    assert answer.headers["content-type"] == "application/x-pem-file"
    certificate = read_certificate(shared)
    public = certificate.public_key()
    assert isinstance(public, rsa.RSAPublicKey)
    assert (public.key_size, public.public_numbers().e) == (3072, 65537)
    names = [attribute.value for attribute in certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)]
    assert names == [shared.name]
    assert certificate.not_valid_before_utc < datetime.now(UTC) < certificate.not_valid_after_utc
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    assert (usage.key_encipherment, usage.digital_signature, usage.key_cert_sign) == (True, False, False)


def test_certificate_of_an_unknown_tenant_is_404(shared):
    answer = shared.http.get("/auth/mgmt/v1/tenants/no-such-tenant/certificate")
    assert (answer.status_code, answer.json()["message"]) == (404, "There is no such object.")


# Reading


@pytest.mark.parametrize("algorithm", [hashes.SHA256, hashes.SHA1])
async def test_both_paddings_are_read(standing_services, shared, algorithm):
    certificate = read_certificate(shared)
    values = {name: encrypt_under(certificate, name.encode(), algorithm) for name in ("userid", "pin")}
    read = await standing_services.encryption.decrypt(await tenant_id_of(standing_services, shared), values)
    assert {name: secret.reveal() for name, secret in read.items()} == {"userid": "userid", "pin": "pin"}
    assert "pin" not in repr(read["pin"])


async def test_unreadable_values_all_get_the_same_error(standing_services, shared, neighbour):
    good = encrypt_under(read_certificate(shared), b"x", hashes.SHA256)
    raw = base64.b64decode(good)
    unreadable = {
        "foreign key": encrypt_under(read_certificate(neighbour), b"x", hashes.SHA256),
        "other hash": encrypt_under(read_certificate(shared), b"x", hashes.SHA512),
        "no text": encrypt_under(read_certificate(shared), b"\xff\xfe", hashes.SHA256),
        "old padding": base64.b64encode(
            read_certificate(shared).public_key().encrypt(b"x", padding.PKCS1v15())
        ).decode(),
        "changed": base64.b64encode(bytes([raw[0] ^ 1]) + raw[1:]).decode(),
        "short": base64.b64encode(raw[:-1]).decode(),
        "long": base64.b64encode(raw + b"x").decode(),
        "zeros": base64.b64encode(bytes(384)).decode(),
        "no base64": "!",
        "no ascii": "ü",
        "plain": "12345",
        "empty": "",
        "wrapped": good[:64] + "\n" + good[64:],
    }
    tenant_id = await tenant_id_of(standing_services, shared)
    found = set()
    for name, value in unreadable.items():
        with pytest.raises(InvalidError) as refused:
            await standing_services.encryption.decrypt(tenant_id, {"userid": good, "pin": value})
        assert value not in str(refused.value) or not value, name
        found.add((type(refused.value), str(refused.value), refused.value.field))
    assert len(found) == 1


async def test_after_rotation_the_previous_key_still_reads_and_older_ones_do_not(services, tenant):
    tenant_id = await tenant_id_of(services, tenant)
    values = []
    for number in range(3):
        if number:
            await services.tenant_administration.rotate_transport_key(tenant.name)
        values.append(encrypt_under(read_certificate(tenant), f"value {number}".encode(), hashes.SHA256))
    assert len({read_certificate(tenant).serial_number, *values}) == 4
    for number in (1, 2):
        read = await services.encryption.decrypt(tenant_id, {"pin": values[number]})
        assert read["pin"].reveal() == f"value {number}"
    with pytest.raises(InvalidError):
        await services.encryption.decrypt(tenant_id, {"pin": values[0]})
    answer = tenant.http.put("/encrypt", content=b"eA==", headers=tenant.as_user | {"Content-Type": MEDIA_TYPE})
    assert (await services.encryption.decrypt(tenant_id, {"pin": answer.text}))["pin"].reveal() == "x"


# Keys at rest


async def test_every_user_has_a_data_key_of_its_own(settings, standing_services, new_user):
    master = load_master_key(settings)
    async with standing_services.database.connect() as connection:
        found = [await keys.load_data_key(connection, master, new_user().reference) for _ in range(2)]
    assert found[0].id != found[1].id
    sealed = found[0].seal(b"secret", "user a pin")
    assert found[0].unseal(sealed, "user a pin") == b"secret"
    with pytest.raises(KeyUnusableError):
        found[1].unseal(sealed, "user a pin")


async def test_data_key_moved_to_another_user_does_not_open(settings, standing_services, new_user, owner):
    first, second = new_user(), new_user()
    owner.execute(
        "update users set data_key = (select data_key from users where id = %s) where id = %s",
        [first.reference, second.reference],
    )
    async with standing_services.database.connect() as connection:
        with pytest.raises(KeyUnusableError):
            await keys.load_data_key(connection, load_master_key(settings), second.reference)


async def test_erased_users_data_key_is_gone(settings, shared, standing_services, new_user):
    person = new_user()
    shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin).raise_for_status()
    shared.http.delete(person.url, headers=shared.as_admin).raise_for_status()
    async with standing_services.database.connect() as connection:
        assert await keys.load_data_key(connection, load_master_key(settings), person.reference) is None


def test_sealed_value_is_bound_to_its_place_and_key_and_never_repeats():
    key = generate_key()
    sealed = key.seal(b"secret", "here")
    assert b"secret" not in sealed
    assert key.seal(b"secret", "here") != sealed
    for damaged, place in [
        (sealed, "there"),
        (sealed[:-1], "here"),
        (sealed[:-1] + bytes([sealed[-1] ^ 1]), "here"),
        (b"\x02" + sealed[1:], "here"),
        (b"", "here"),
    ]:
        with pytest.raises(KeyUnusableError):
            key.unseal(damaged, place)
    with pytest.raises(KeyUnusableError):
        generate_key().unseal(sealed, "here")
    assert repr(key) == f"SealingKey({key.id.hex()})"


@pytest.mark.parametrize("raw", [b"", b"x" * 31, b"x" * 33, b"\x00" * 32])
def test_weak_key_is_refused(raw):
    with pytest.raises(KeyUnusableError):
        SealingKey(raw)


async def test_new_master_key_opens_everything_and_the_old_one_nothing(settings, standing_services, shared):
    old, new = load_master_key(settings), generate_key()
    tenant_id = await tenant_id_of(standing_services, shared)

    async with standing_services.database.transaction() as connection:
        before = await keys.load_private_keys(connection, old, tenant_id)
        data_key = await keys.load_data_key(connection, old, shared.user_reference)
        assert await keys.rewrap_tenant_keys(connection, old, new) >= 2
        assert await keys.load_private_keys(connection, new, tenant_id) == before
        assert (await keys.load_data_key(connection, new, shared.user_reference)).id == data_key.id
        with pytest.raises(KeyUnusableError):
            await keys.load_private_keys(connection, old, tenant_id)
        raise psycopg.Rollback  # the other tests go on with the old one


def test_private_keys_are_sealed_in_the_database(owner):
    rows = owner.execute("select kind, sealed from tenant_keys").fetchall()
    assert {kind for kind, _ in rows} == {"transport", "wrapping"}
    for _, sealed in rows:
        assert sealed[:1] == b"\x01"
        assert b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01" not in sealed  # rsaEncryption, in every PKCS#8 key
