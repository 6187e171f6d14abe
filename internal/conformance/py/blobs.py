from azure.core import MatchConditions
from azure.storage.blob import BlobBlock, BlobClient, BlobServiceClient, generate_blob_sas
from run import ACCOUNT, UNIQUE, refused, step
from datetime import datetime, timedelta

service = BlobServiceClient.from_connection_string(ACCOUNT)
container = service.get_container_client(UNIQUE)
blob = container.get_blob_client("folder/it's a blob.txt")


@step("create a container")
def _():
    container.create_container(metadata={"color": "blue"})
    refused(409, "ContainerAlreadyExists", container.create_container)


@step("list containers with metadata")
def _():
    found = list(service.list_containers(name_starts_with=UNIQUE, include_metadata=True))
    assert [(c.name, c.metadata) for c in found] == [(UNIQUE, {"color": "blue"})], found


@step("upload, download and a range")
def _():
    blob.upload_blob(b"hello", metadata={"UP": "Value", "camelCase": "x y"})
    assert blob.download_blob().readall() == b"hello"
    assert blob.download_blob(offset=1, length=3).readall() == b"ell"


@step("properties, with the case of the names of metadata")
def _():
    p = blob.get_blob_properties()
    assert (p.size, p.blob_type, p.lease.state) == (5, "BlockBlob", "available"), p
    assert p.metadata == {"UP": "Value", "camelCase": "x y"}, p.metadata


@step("conditions")
def _():
    refused(409, "BlobAlreadyExists", blob.upload_blob, b"x")
    refused(412, "ConditionNotMet", blob.upload_blob, b"x", overwrite=True, etag='"0x1"', match_condition=MatchConditions.IfNotModified)
    refused(404, "BlobNotFound", container.get_blob_client("none").download_blob)


@step("blocks")
def _():
    big = container.get_blob_client("big")
    for i in ("a", "b"):
        big.stage_block(i, i.encode() * 1000)
    committed, staged = big.get_block_list("all")
    assert (len(committed), len(staged)) == (0, 2)
    big.commit_block_list([BlobBlock("b"), BlobBlock("a")])
    assert big.download_blob().readall() == b"b" * 1000 + b"a" * 1000


@step("append")
def _():
    log = container.get_blob_client("log")
    log.create_append_blob()
    log.append_block(b"one\n", length=4)
    refused(412, "AppendPositionConditionNotMet", log.append_block, b"two\n", length=4, appendpos_condition=0)
    assert log.append_block(b"two\n", length=4, appendpos_condition=4)["blob_committed_block_count"] == 2


@step("list by pages and by folders")
def _():
    pages = [[b.name for b in page] for page in container.list_blobs(results_per_page=2).by_page()]
    assert pages == [["big", "folder/it's a blob.txt"], ["log"]], pages
    assert sorted(b.name for b in container.walk_blobs()) == ["big", "folder/", "log"]
    [with_metadata] = container.list_blobs(name_starts_with="folder/", include=["metadata"])
    assert with_metadata.metadata == {"UP": "Value", "camelCase": "x y"}, with_metadata.metadata


@step("a lease")
def _():
    lease = blob.acquire_lease(lease_duration=15)
    refused(412, "LeaseIdMissing", blob.delete_blob)
    blob.set_blob_metadata({"a": "1"}, lease=lease)
    lease.release()


@step("a snapshot and a copy")
def _():
    snapshot = blob.create_snapshot()
    assert container.get_blob_client(blob.blob_name, snapshot=snapshot["snapshot"]).download_blob().readall() == b"hello"
    target = container.get_blob_client("copy")
    assert target.start_copy_from_url(blob.url)["copy_status"] == "success"
    assert target.get_blob_properties().metadata == {"a": "1"}


@step("a shared access signature")
def _():
    sas = generate_blob_sas(service.account_name, UNIQUE, "big", account_key=service.credential.account_key, permission="r", expiry=datetime.utcnow() + timedelta(hours=1))
    signed = BlobClient.from_blob_url(container.url + "/big?" + sas)
    assert len(signed.download_blob().readall()) == 2000
    refused(403, "AuthorizationPermissionMismatch", signed.delete_blob)


@step("a batch of deletes")
def _():
    replies = list(container.delete_blobs("big", "log"))
    assert [r.status_code for r in replies] == [202, 202], replies


@step("delete the container")
def _():
    container.delete_container()
    refused(404, "ContainerNotFound", container.get_container_properties)
