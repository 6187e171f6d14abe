"use strict";

const { QueueClient, QueueSASPermissions, QueueServiceClient } = require("@azure/storage-queue");
const { step, refused, all, unique, account, assert } = require("./run.cjs");

const service = QueueServiceClient.fromConnectionString(account);
const name = "js" + unique;
const queue = service.getQueueClient(name);

step("create a queue", () => queue.create());
step("create it if it is not there", async () => assert.equal((await queue.createIfNotExists()).succeeded, false));
step("find it", async () => assert.equal(await queue.exists(), true));
step("list queues", async () => {
  assert.deepEqual((await all(service.listQueues({ prefix: name }))).map((q) => q.name), [name]);
});
step("metadata", async () => {
  await queue.setMetadata({ color: "blue" });
  const p = await queue.getProperties();
  assert.equal(p.metadata.color, "blue");
  assert.equal(p.approximateMessagesCount, 0);
});
step("send and peek", async () => {
  const sent = await queue.sendMessage("Grüße <&> 😀");
  assert.ok(sent.messageId && sent.popReceipt && sent.nextVisibleOn);
  const [m] = (await queue.peekMessages()).peekedMessageItems;
  assert.equal(m.messageText, "Grüße <&> 😀");
  assert.equal(m.dequeueCount, 0);
});
step("receive, extend and delete", async () => {
  const [m] = (await queue.receiveMessages({ visibilityTimeout: 60 })).receivedMessageItems;
  assert.equal(m.dequeueCount, 1);
  assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 0);
  const updated = await queue.updateMessage(m.messageId, m.popReceipt, "done", 0);
  await refused(queue.deleteMessage(m.messageId, m.popReceipt), 400, "PopReceiptMismatch");
  const [again] = (await queue.peekMessages()).peekedMessageItems;
  assert.equal(again.messageText, "done");
  await queue.deleteMessage(m.messageId, updated.popReceipt);
  await refused(queue.deleteMessage(m.messageId, updated.popReceipt), 404, "MessageNotFound");
});
step("receive many", async () => {
  for (let i = 0; i < 5; i++) await queue.sendMessage(String(i));
  const got = (await queue.receiveMessages({ numberOfMessages: 32 })).receivedMessageItems;
  assert.deepEqual(got.map((m) => m.messageText).sort(), ["0", "1", "2", "3", "4"]);
});
step("a message for later", async () => {
  await queue.clearMessages();
  await queue.sendMessage("later", { visibilityTimeout: 100, messageTimeToLive: 1000 });
  assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 0);
  assert.equal((await queue.getProperties()).approximateMessagesCount, 1);
});
step("clear", async () => {
  await queue.clearMessages();
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
});
step("a visibility of more than a week", () => refused(queue.sendMessage("x", { visibilityTimeout: 604801, messageTimeToLive: -1 }), 400, "OutOfRangeQueryParameterValue"));
step("a text over 64 KiB", () => refused(queue.sendMessage("x".repeat((64 << 10) + 1)), 413, "RequestBodyTooLarge"));
step("a body over 4 MiB", () => refused(queue.sendMessage("x".repeat(8 << 20)), 413, "RequestBodyTooLarge"));
step("a delay that is not less than the lifetime", () => refused(queue.sendMessage("x", { visibilityTimeout: 2, messageTimeToLive: 1 }), 400, "InvalidQueryParameterValue"));
step("access policies", async () => {
  await queue.setAccessPolicy([{ id: "one", accessPolicy: { startsOn: new Date("2020-01-01"), expiresOn: new Date("2099-01-01"), permissions: "raup" } }]);
  const got = await queue.getAccessPolicy();
  assert.equal(got.signedIdentifiers[0].accessPolicy.permissions, "raup");
});
step("a shared access signature", async () => {
  const expiresOn = new Date(Date.now() + 3600_000);
  const sign = (letters) => new QueueClient(queue.generateSasUrl({ expiresOn, permissions: QueueSASPermissions.parse(letters) }));
  await sign("a").sendMessage("signed");
  await refused(sign("a").receiveMessages(), 403, "AuthorizationPermissionMismatch");
  const [m] = (await sign("p").receiveMessages()).receivedMessageItems;
  assert.equal(m.messageText, "signed");
});
step("properties of the service", async () => {
  const p = await service.getProperties();
  assert.ok(p.queueAnalyticsLogging);
});
step("delete the queue", () => queue.delete());
step("use the deleted queue", () => refused(queue.sendMessage("x"), 404, "QueueNotFound"));
