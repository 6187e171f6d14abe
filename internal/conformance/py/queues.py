from azure.storage.queue import QueueClient, QueueServiceClient, generate_queue_sas
from run import ACCOUNT, UNIQUE, refused, step
from datetime import datetime, timedelta

service = QueueServiceClient.from_connection_string(ACCOUNT)
queue = service.get_queue_client(UNIQUE)


@step("create a queue")
def _():
    queue.create_queue(metadata={"color": "blue"})
    refused(409, "QueueAlreadyExists", queue.create_queue)


@step("list queues with metadata")
def _():
    found = list(service.list_queues(name_starts_with=UNIQUE, include_metadata=True))
    assert [(q.name, q.metadata) for q in found] == [(UNIQUE, {"color": "blue"})], found


@step("metadata, with the case of its names")
def _():
    queue.set_queue_metadata({"UP": "Value", "camelCase": "x y"})
    p = queue.get_queue_properties()
    assert p.metadata == {"UP": "Value", "camelCase": "x y"}, p.metadata
    assert p.approximate_message_count == 0


@step("send, peek, receive, update and delete")
def _():
    sent = queue.send_message("Grüße <&> 😀")
    assert sent.id and sent.pop_receipt and sent.next_visible_on
    [peeked] = queue.peek_messages()
    assert (peeked.content, peeked.dequeue_count) == ("Grüße <&> 😀", 0)
    m = queue.receive_message(visibility_timeout=60)
    assert m.dequeue_count == 1 and queue.receive_message() is None
    updated = queue.update_message(m, content="done", visibility_timeout=0)
    refused(400, "PopReceiptMismatch", queue.delete_message, m.id, m.pop_receipt)
    queue.delete_message(updated)
    refused(404, "MessageNotFound", queue.delete_message, updated)


@step("receive by pages")
def _():
    for i in range(5):
        queue.send_message(str(i))
    pages = [[m.content for m in page] for page in queue.receive_messages(messages_per_page=2, visibility_timeout=60).by_page()]
    assert sorted(sum(pages, [])) == ["0", "1", "2", "3", "4"] and len(pages[0]) == 2, pages
    queue.clear_messages()


@step("access policies and a shared access signature")
def _():
    queue.set_queue_access_policy({})
    assert queue.get_queue_access_policy() == {}
    sas = generate_queue_sas(service.account_name, UNIQUE, service.credential.account_key, permission="a", expiry=datetime.utcnow() + timedelta(hours=1))
    signed = QueueClient(queue.primary_endpoint.split("/" + UNIQUE)[0], UNIQUE, credential=sas)
    signed.send_message("signed")
    refused(403, "AuthorizationPermissionMismatch", signed.receive_message)


@step("properties of the service")
def _():
    assert service.get_service_properties()["analytics_logging"].version == "1.0"


@step("delete the queue")
def _():
    queue.delete_queue()
    refused(404, "QueueNotFound", queue.send_message, "x")
