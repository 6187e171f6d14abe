"use strict";

const azure = require("azure-storage");
const { step, refused, promised, unique, account, assert } = require("./run.cjs");

const blobs = promised(azure.createBlobService(account));
const name = "old" + unique;
const blob = "folder/it's a blob.txt";

step("create a container", () => blobs.createContainer(name, { metadata: { color: "blue" } }));
step("create it if it is not there", async () => assert.equal((await blobs.createContainerIfNotExists(name)).created, false));
step("list containers with metadata", async () => {
  const [c] = (await blobs.listContainersSegmentedWithPrefix(name, null, { include: "metadata" })).entries;
  assert.deepEqual([c.name, c.metadata.color], [name, "blue"]);
});
step("upload, download and a range", async () => {
  await blobs.createBlockBlobFromText(name, blob, "hello", { metadata: { UP: "Value" }, contentSettings: { contentType: "text/plain" } });
  assert.equal(await blobs.getBlobToText(name, blob), "hello");
  assert.equal(await blobs.getBlobToText(name, blob, { rangeStart: 1, rangeEnd: 3 }), "ell");
});
step("properties and metadata", async () => {
  const p = await blobs.getBlobProperties(name, blob);
  assert.deepEqual([p.contentLength, p.blobType, p.contentSettings.contentType, p.metadata], ["5", "BlockBlob", "text/plain", { UP: "Value" }]);
});
step("conditions", async () => {
  const onlyNew = { accessConditions: azure.AccessCondition.generateIfNotExistsCondition() };
  await refused(blobs.createBlockBlobFromText(name, blob, "x", onlyNew), 409, "BlobAlreadyExists");
  const gone = { accessConditions: azure.AccessCondition.generateIfMatchCondition('"0x1"') };
  await refused(blobs.createBlockBlobFromText(name, blob, "x", gone), 412, "ConditionNotMet");
  await refused(blobs.getBlobToText(name, "none"), 404, "BlobNotFound");
});
step("blocks", async () => {
  await blobs.createBlockFromText("aaaa", name, "big", "first ");
  await blobs.createBlockFromText("bbbb", name, "big", "second");
  assert.equal((await blobs.listBlocks(name, "big", "all")).UncommittedBlocks.length, 2);
  await blobs.commitBlocks(name, "big", { LatestBlocks: ["aaaa", "bbbb"] });
  assert.equal(await blobs.getBlobToText(name, "big"), "first second");
});
step("append", async () => {
  await blobs.createAppendBlobFromText(name, "log", "one\n");
  await blobs.appendFromText(name, "log", "two\n");
  assert.equal(await blobs.getBlobToText(name, "log"), "one\ntwo\n");
});
step("list blobs by pages and with metadata", async () => {
  const page = await blobs.listBlobsSegmented(name, null, { maxResults: 2, include: "metadata" });
  assert.deepEqual(page.entries.map((b) => b.name), ["big", blob]);
  assert.deepEqual(page.entries[1].metadata, { up: "Value" }); // the package changes the case in lists
  assert.equal((await blobs.listBlobsSegmented(name, page.continuationToken)).entries.length, 1);
});
step("a lease", async () => {
  const { id } = await blobs.acquireLease(name, blob, { leaseDuration: 15 });
  await refused(blobs.deleteBlob(name, blob), 412, "LeaseIdMissing");
  await blobs.releaseLease(name, blob, id);
});
step("a snapshot and a copy", async () => {
  const snapshotId = await blobs.createBlobSnapshot(name, blob);
  assert.equal(await blobs.getBlobToText(name, blob, { snapshotId }), "hello");
  const copied = await blobs.startCopyBlob(blobs.getUrl(name, blob), name, "copy");
  assert.equal(copied.copy.status, "success");
});
step("a shared access signature", async () => {
  const sas = blobs.generateSharedAccessSignature(name, "big", { AccessPolicy: { Permissions: "r", Expiry: azure.date.minutesFromNow(60) } });
  const signed = promised(azure.createBlobServiceWithSas(/BlobEndpoint=([^;]*)/.exec(account)[1], sas));
  assert.equal(await signed.getBlobToText(name, "big"), "first second");
  await refused(signed.deleteBlob(name, "big"), 403, "AuthorizationPermissionMismatch");
});
step("delete the container", () => blobs.deleteContainer(name));
