// Records the requests that the packages send, signed with the key of the tests in patterns/storagetest/internal/auth, and writes
// them as JSON, one per line. To record them again, run in this folder:
//
//	npm ci && node record.cjs > ../../../patterns/storagetest/internal/auth/testdata/javascript.json
"use strict";

const http = require("node:http");
const { text } = require("node:stream/consumers");
const tables = require("@azure/data-tables");
const queues = require("@azure/storage-queue");
const blobs = require("@azure/storage-blob");

const account = "acct";
const key = Buffer.from("0123456789abcdef0123456789abcdef").toString("base64");

// Headers that the transport adds, and headers that are not signed.
const dropped = new Set(["host", "connection", "user-agent", "accept", "accept-encoding", "transfer-encoding"]);

const requests = [];
let last;
const server = http.createServer(async (req, res) => {
  const headers = Object.fromEntries(Object.entries(req.headers).filter(([name]) => !dropped.has(name)));
  await text(req);
  last = { method: req.method, url: req.url, headers };
  res.writeHead(400).end();
});

// record stores the one request that send sends. The server refuses it, which is ignored.
async function record(service, name, send) {
  last = undefined;
  const error = await send().then(() => undefined, (e) => e);
  if (!last) throw error ?? new Error(`${service} ${name} sent nothing`);
  requests.push({ service, name, ...last });
}

const words = ["plain", "two words", "O'Brien", "100%", "a+b", "ä€😀", "a&b=c", "(x,y)", "[b];,:@!$*~"];
const startsOn = new Date("2020-01-01T00:00:00Z");
const expiresOn = new Date("2100-01-01T00:00:00Z");
const ipRange = { start: "127.0.0.1" };

async function recordTables(url) {
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  const credential = new tables.AzureNamedKeyCredential(account, key);
  const service = new tables.TableServiceClient(url, credential, options);
  const people = new tables.TableClient(url, "People", credential, options);
  const note = (name, send) => record("table", name, send);
  for (const w of words) {
    await note(`get ${w}`, () => people.getEntity(`p${w}`, w));
    const queryOptions = { filter: tables.odata`Name eq ${w}` };
    await note(`query ${w}`, () => people.listEntities({ queryOptions }).byPage({ maxPageSize: 3 }).next());
  }
  await note("insert", () => people.createEntity({ partitionKey: "a", rowKey: "b" }));
  await note("update", () => people.updateEntity({ partitionKey: "a", rowKey: "b", n: 1 }, "Merge"));
  await note("batch", () => people.submitTransaction([["create", { partitionKey: "a", rowKey: "b" }]]));
  await note("acl", () => people.getAccessPolicy());
  await note("create table", () => service.createTable("People"));
  await note("list tables", () => service.listTables().next());
  await note("properties", () => service.getProperties());

  const anonymous = (sas) => new tables.TableClient(url, "People", new tables.AzureSASCredential(sas), options);
  const signed = (name, values) =>
    note(name, () => anonymous(tables.generateTableSas("People", credential, values)).getEntity("a b+c", "1"));
  const permissions = { query: true, add: true };
  await signed("SAS", { startsOn, expiresOn, permissions });
  await signed("SAS of every kind", { startsOn, expiresOn, permissions: { query: true, add: true, update: true, delete: true }, ipRange, protocol: "https,http", version: "2019-02-02" });
  await signed("SAS for a range", { expiresOn, permissions, startPartitionKey: "a b+c", startRowKey: "1", endPartitionKey: "a b+c", endRowKey: "2" });
  await signed("SAS for a partition", { expiresOn, permissions, startPartitionKey: "a b+c", endPartitionKey: "a b+c" });
  await signed("SAS of a stored policy", { identifier: "policy é+1" });
  await note("account SAS", () => {
    const sas = tables.generateAccountSas(credential, {
      startsOn, expiresOn, permissions: { query: true, list: true }, services: { table: true },
    });
    return anonymous(sas).getEntity("a b+c", "1");
  });
}

async function recordQueues(url) {
  const credential = new queues.StorageSharedKeyCredential(account, key);
  const options = { retryOptions: { maxTries: 1, tryTimeoutInMs: 30_000 } };
  const service = new queues.QueueServiceClient(url, credential, options);
  const jobs = service.getQueueClient("jobs");
  const note = (name, send) => record("queue", name, send);
  await note("create", () => jobs.create({ metadata: { a1: "x", a_: "y z", owner: "me" } }));
  await note("put", () => jobs.sendMessage("Grüße <&>", { messageTimeToLive: 60 }));
  await note("get", () => jobs.receiveMessages({ numberOfMessages: 32 }));
  await note("delete", () => jobs.deleteMessage("id", "pop+rec/eipt== x"));
  await note("update", () => jobs.updateMessage("id", "a+b c", "text", 5));
  await note("list", () => service.listQueues({ prefix: "a b&c+d", includeMetadata: true }).byPage().next());

  const signed = (name, values) =>
    note(name, () => {
      const sas = queues.generateQueueSASQueryParameters({ queueName: "jobs", ...values }, credential);
      return new queues.QueueClient(`${url}/jobs?${sas}`, undefined, options).receiveMessages();
    });
  await signed("SAS", { expiresOn, permissions: queues.QueueSASPermissions.parse("ap") });
  await signed("SAS of every kind", { startsOn, expiresOn, permissions: queues.QueueSASPermissions.parse("raup"), ipRange, protocol: "https,http", version: "2019-02-02" });
  await signed("SAS of a stored policy", { identifier: "policy é+1" });
  await note("account SAS", () => {
    const sas = queues.generateAccountSASQueryParameters(
      { startsOn, expiresOn, permissions: queues.AccountSASPermissions.parse("rp"), services: "q", resourceTypes: "o" },
      credential,
    );
    return new queues.QueueClient(`${url}/jobs?${sas}`, undefined, options).receiveMessages();
  });
}

async function recordBlobs(url) {
  const credential = new blobs.StorageSharedKeyCredential(account, key);
  const options = { retryOptions: { maxTries: 1, tryTimeoutInMs: 30_000 } };
  const service = new blobs.BlobServiceClient(url, credential, options);
  const files = service.getContainerClient("files");
  const note = (name, send) => record("blob", name, send);
  const token = (values) => blobs.generateBlobSASQueryParameters({ containerName: "files", ...values }, credential);
  await note("create container", () => files.create({ metadata: { a1: "x", a_: "y" } }));
  await note("list", () =>
    files.listBlobsByHierarchy("/", { prefix: "a b/ä+", includeMetadata: true }).byPage({ maxPageSize: 5 }).next());
  for (const w of [...words, "dir/sub/file", "back\\slash", "q?m#h"]) {
    const blob = files.getBlockBlobClient(w);
    await note(`upload ${w}`, () =>
      blob.upload("content", 7, { conditions: { ifNoneMatch: "*" }, metadata: { b1: "x", b_: "y" }, blobHTTPHeaders: { blobContentType: "text/plain" } }));
    await note(`read ${w}`, () => blob.download(3, 5));
    await note(`SAS ${w}`, () => {
      const sas = token({ blobName: w, expiresOn, permissions: blobs.BlobSASPermissions.parse("rc"), contentDisposition: "attachment; filename=a b" });
      return new blobs.BlobClient(`${blob.url}?${sas}`, undefined, options).download();
    });
  }
  const signed = (name, values) =>
    note(name, () => new blobs.BlobClient(`${url}/files/b?${token(values)}`, undefined, options).download());
  const headers = { cacheControl: "no-store", contentDisposition: "inline", contentEncoding: "gzip", contentLanguage: "de", contentType: "text/plain" };
  const every = { startsOn, expiresOn, permissions: blobs.BlobSASPermissions.parse("racwd"), ipRange, protocol: "https,http", ...headers };
  await signed("SAS of every kind", { blobName: "b", ...every });
  await signed("SAS of every kind, before resources were signed", { blobName: "b", ...every, version: "2018-03-28" });
  await signed("SAS of every kind, before scopes were signed", { blobName: "b", ...every, version: "2019-12-12" });
  await signed("SAS with a scope", { blobName: "b", ...every, encryptionScope: "scope" });
  await signed("SAS of a stored policy", { blobName: "b", identifier: "policy é+1" });
  await signed("container SAS for a blob", { expiresOn, permissions: blobs.ContainerSASPermissions.parse("r") });
  await note("container SAS", () => {
    const sas = token({ startsOn, expiresOn, permissions: blobs.ContainerSASPermissions.parse("racwdl") });
    return new blobs.ContainerClient(`${url}/files?${sas}`, undefined, options).listBlobsFlat().byPage().next();
  });
  await note("account SAS", () => {
    const sas = blobs.generateAccountSASQueryParameters(
      { startsOn, expiresOn, permissions: blobs.AccountSASPermissions.parse("rwdlacup"), services: "btq", resourceTypes: "sco" },
      credential,
    );
    return new blobs.BlobServiceClient(`${url}/?${sas}`, undefined, options).listContainers().byPage().next();
  });
}

server.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${server.address().port}/${account}`;
  try {
    for (const run of [recordTables, recordQueues, recordBlobs]) await run(url);
    console.log(`[\n${requests.map((r) => JSON.stringify(r)).join(",\n")}\n]`);
  } catch (e) {
    console.error(e);
    process.exitCode = 1;
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
