"use strict";

const { BlobSASPermissions, BlobServiceClient, BlockBlobClient, ContainerClient, ContainerSASPermissions } = require("@azure/storage-blob");
const { step, refused, all, unique, account, assert } = require("./run.cjs");

const service = BlobServiceClient.fromConnectionString(account);
const name = "js" + unique;
const container = service.getContainerClient(name);
const blob = container.getBlockBlobClient("folder/it's a blob.txt");

step("create a container", () => container.create({ metadata: { color: "blue" } }));
step("create it if it is not there", async () => assert.equal((await container.createIfNotExists()).succeeded, false));
step("find it", async () => assert.equal(await container.exists(), true));
step("list containers", async () => {
  const [c] = await all(service.listContainers({ prefix: name, includeMetadata: true }));
  assert.equal(c.name, name);
  assert.equal(Object.values(c.metadata)[0], "blue");
});
step("upload", async () => {
  const res = await blob.upload("hello", 5, { blobHTTPHeaders: { blobContentType: "text/plain" }, metadata: { a: "1" } });
  assert.match(res.etag, /^"0x/);
});
step("download", async () => {
  const res = await blob.download();
  assert.equal(res.contentType, "text/plain");
  assert.equal(res.metadata.a, "1");
  assert.equal((await blob.downloadToBuffer()).toString(), "hello");
});
step("download a range", async () => assert.equal((await blob.downloadToBuffer(1, 3)).toString(), "ell"));
step("properties", async () => {
  const p = await blob.getProperties();
  assert.equal(p.contentLength, 5);
  assert.equal(p.blobType, "BlockBlob");
  assert.equal(p.leaseState, "available");
});
step("upload if none exists", () => refused(blob.upload("x", 1, { conditions: { ifNoneMatch: "*" } }), 409, "BlobAlreadyExists"));
step("upload over a version that is gone", () => refused(blob.upload("x", 1, { conditions: { ifMatch: '"0x1"' } }), 412, "ConditionNotMet"));
step("download what did not change", async () => {
  const { etag } = await blob.getProperties();
  await assert.rejects(blob.download(0, undefined, { conditions: { ifNoneMatch: etag } }), (e) => e.statusCode === 304);
});
step("a missing blob", () => refused(container.getBlobClient("none").download(), 404, "BlobNotFound"));
step("set metadata and headers", async () => {
  await blob.setMetadata({ b: "2" });
  await blob.setHTTPHeaders({ blobContentType: "text/css", blobCacheControl: "no-store" });
  const p = await blob.getProperties();
  assert.deepEqual([p.metadata.b, p.metadata.a, p.contentType, p.cacheControl], ["2", undefined, "text/css", "no-store"]);
});
step("upload in parallel blocks", async () => {
  const data = Buffer.alloc(1 << 20, "0123456789abcdef");
  const big = container.getBlockBlobClient("big");
  await big.uploadData(data, { blockSize: 100_000, maxSingleShotSize: 100_000, concurrency: 4 });
  assert.ok(data.equals(await big.downloadToBuffer(0, undefined, { blockSize: 70_000, concurrency: 4 })));
  const list = await big.getBlockList("committed");
  assert.equal(list.committedBlocks.length, 11);
});
step("append", async () => {
  const log = container.getAppendBlobClient("log");
  await log.create();
  await log.appendBlock("one\n", 4);
  const res = await log.appendBlock("two\n", 4, { conditions: { appendPosition: 4 } });
  assert.equal(res.blobAppendOffset, "4");
  await refused(log.appendBlock("x", 1, { conditions: { appendPosition: 4 } }), 412, "AppendPositionConditionNotMet");
  assert.equal((await log.downloadToBuffer()).toString(), "one\ntwo\n");
});
step("list flat", async () => {
  const names = (await all(container.listBlobsFlat())).map((b) => b.name);
  assert.deepEqual(names, ["big", "folder/it's a blob.txt", "log"]);
});
step("list by hierarchy and page", async () => {
  const items = await all(container.listBlobsByHierarchy("/"));
  assert.deepEqual(items.map((i) => `${i.kind} ${i.name}`).sort(), ["blob big", "blob log", "prefix folder/"]);
  let pages = 0;
  for await (const page of container.listBlobsFlat().byPage({ maxPageSize: 2 })) {
    pages++;
    assert.ok(page.segment.blobItems.length <= 2);
  }
  assert.equal(pages, 2);
});
step("lease", async () => {
  const lease = blob.getBlobLeaseClient();
  await lease.acquireLease(15);
  await refused(blob.upload("x", 1), 412, "LeaseIdMissing");
  await blob.upload("mine", 4, { conditions: { leaseId: lease.leaseId } });
  await lease.releaseLease();
});
step("copy", async () => {
  const to = container.getBlobClient("copy");
  const poller = await to.beginCopyFromURL(blob.url, { intervalInMs: 10 });
  const res = await poller.pollUntilDone();
  assert.equal(res.copyStatus, "success");
  assert.equal((await to.downloadToBuffer()).toString(), "mine");
});
step("a shared access signature for tags and tiers", async () => {
  const sign = async (letters) =>
    new BlockBlobClient(await blob.generateSasUrl({ expiresOn: new Date(Date.now() + 3600_000), permissions: BlobSASPermissions.parse(letters) }));
  await (await sign("t")).setTags({ by: "signature" });
  assert.deepEqual((await (await sign("t")).getTags()).tags, { by: "signature" });
  await refused((await sign("rw")).getTags(), 403, "AuthorizationPermissionMismatch");
  await (await sign("w")).setAccessTier("Cool");
  await refused((await sign("rt")).setAccessTier("Hot"), 403, "AuthorizationPermissionMismatch");
});
step("tags", async () => {
  await blob.setTags({ color: "blue" });
  assert.deepEqual((await blob.getTags()).tags, { color: "blue" });
});
step("a shared access signature", async () => {
  const expiresOn = new Date(Date.now() + 3600_000);
  const url = await blob.generateSasUrl({ expiresOn, permissions: BlobSASPermissions.parse("r"), contentType: "text/signed" });
  const signed = new BlockBlobClient(url);
  assert.equal((await signed.download()).contentType, "text/signed");
  await refused(signed.upload("x", 1), 403, "AuthorizationPermissionMismatch");
  const all = new ContainerClient(await container.generateSasUrl({ expiresOn, permissions: ContainerSASPermissions.parse("rl") }));
  assert.ok((await all.listBlobsFlat().byPage().next()).value.segment.blobItems.length > 0);
  assert.equal((await all.getBlobClient(blob.name).downloadToBuffer()).toString(), "mine");
});
step("copy from a URL needs a signature", async () => {
  const to = container.getBlobClient("synchronous");
  const link = await blob.generateSasUrl({ expiresOn: new Date(Date.now() + 3600_000), permissions: BlobSASPermissions.parse("r") });
  assert.equal((await to.syncCopyFromURL(link)).copyStatus, "success");
  await to.delete();
});
step("snapshots", async () => {
  const { snapshot } = await blob.createSnapshot();
  await blob.upload("later", 5);
  assert.equal((await blob.withSnapshot(snapshot).downloadToBuffer()).toString(), "mine");
  const ids = (await all(container.listBlobsFlat({ includeSnapshots: true, prefix: blob.name }))).map((b) => b.snapshot ?? "none");
  assert.deepEqual(ids.sort(), [snapshot, "none"]);
  await refused(blob.delete(), 409, "SnapshotsPresent");
  await blob.delete({ deleteSnapshots: "only" });
});
step("delete in a batch", async () => {
  const clients = ["x", "y"].map((n) => container.getBlockBlobClient(n));
  for (const c of clients) await c.upload("x", 1);
  const res = await container.getBlobBatchClient().deleteBlobs([...clients, container.getBlobClient("none")]);
  assert.deepEqual(res.subResponses.map((r) => r.status), [202, 202, 404]);
  assert.equal(res.subResponses[2].errorCode, "BlobNotFound");
});
step("delete a blob", async () => {
  await blob.delete();
  assert.equal(await blob.exists(), false);
});
step("access policies", async () => {
  await container.setAccessPolicy(undefined, [{ id: "one", accessPolicy: { startsOn: new Date("2020-01-01"), expiresOn: new Date("2099-01-01"), permissions: "rwd" } }]);
  assert.equal((await container.getAccessPolicy()).signedIdentifiers[0].id, "one");
});
step("delete the container", () => container.delete());
step("use the deleted container", () => refused(blob.upload("x", 1), 404, "ContainerNotFound"));
