"use strict";

const azure = require("azure-storage");
const { step, refused, promised, unique, account, assert } = require("./run.cjs");

const queues = promised(azure.createQueueService(account));
const name = "old" + unique;

step("create a queue", () => queues.createQueue(name, { metadata: { color: "blue" } }));
step("create it with other metadata", () => refused(queues.createQueue(name), 409, "QueueAlreadyExists"));
step("find it", async () => assert.equal((await queues.doesQueueExist(name)).exists, true));
step("list queues with metadata", async () => {
  const [q] = (await queues.listQueuesSegmentedWithPrefix(name, null, { include: "metadata" })).entries;
  assert.deepEqual([q.name, q.metadata.color], [name, "blue"]);
});
step("metadata", async () => {
  await queues.setQueueMetadata(name, { UP: "Value" });
  const q = await queues.getQueueMetadata(name);
  assert.deepEqual(q.metadata, { UP: "Value" });
  assert.equal(q.approximateMessageCount, 0);
});
step("send, peek, receive, update and delete", async () => {
  await queues.createMessage(name, "Grüße <&> 😀");
  assert.equal((await queues.peekMessage(name)).messageText, "Grüße <&> 😀");
  const m = await queues.getMessage(name, { visibilityTimeout: 60 });
  assert.equal(m.dequeueCount, 1);
  const updated = await queues.updateMessage(name, m.messageId, m.popReceipt, 0, { messageText: "done" });
  await refused(queues.deleteMessage(name, m.messageId, m.popReceipt), 400, "PopReceiptMismatch");
  await queues.deleteMessage(name, m.messageId, updated.popReceipt);
});
step("receive many", async () => {
  for (let i = 0; i < 5; i++) await queues.createMessage(name, String(i));
  const got = await queues.getMessages(name, { numOfMessages: 32 });
  assert.deepEqual(got.map((m) => m.messageText).sort(), ["0", "1", "2", "3", "4"]);
  await queues.clearMessages(name);
});
step("access policies", async () => {
  await queues.setQueueAcl(name, { one: { Permissions: "raup", Expiry: new Date("2099-01-01") } });
  assert.equal((await queues.getQueueAcl(name)).signedIdentifiers.one.Permissions, "raup");
});
step("a shared access signature", async () => {
  const sas = queues.generateSharedAccessSignature(name, { AccessPolicy: { Permissions: "a", Expiry: azure.date.minutesFromNow(60) } });
  const signed = promised(azure.createQueueServiceWithSas(/QueueEndpoint=([^;]*)/.exec(account)[1], sas));
  await signed.createMessage(name, "signed");
  await refused(signed.getMessages(name), 403, "AuthorizationPermissionMismatch");
});
step("properties of the service", async () => assert.equal((await queues.getServiceProperties()).Logging.Version, "1.0"));
step("delete the queue", async () => {
  await queues.deleteQueue(name);
  await refused(queues.createMessage(name, "x"), 404, "QueueNotFound");
});
