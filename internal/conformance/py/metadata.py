import json

from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueServiceClient
from run import ACCOUNT

METADATA = {"UP": "Value", "camelCase": "x y", "low_1": "1"}


def clients(name):
    blobs = BlobServiceClient.from_connection_string(ACCOUNT)
    container = blobs.get_container_client(name)
    return QueueServiceClient.from_connection_string(ACCOUNT).get_queue_client(name), container, container.get_blob_client("b")


def write(name):
    queue, container, blob = clients(name)
    queue.create_queue(metadata=METADATA)
    container.create_container(metadata=METADATA)
    blob.upload_blob(b"x", metadata=METADATA)


def read(name):
    queue, container, blob = clients(name)
    print(json.dumps({
        "queue": queue.get_queue_properties().metadata,
        "container": container.get_container_properties().metadata,
        "blob": blob.get_blob_properties().metadata,
    }))
