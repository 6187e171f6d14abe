// Does what ../metadata.cjs does.
"use strict";

const azure = require("azure-storage");
const { promised, account } = require("./run.cjs");

const [verb, name] = process.argv.slice(3);
const metadata = { UP: "Value", camelCase: "x y", low_1: "1" };
const queues = promised(azure.createQueueService(account));
const blobs = promised(azure.createBlobService(account));

async function write() {
  await queues.createQueue(name, { metadata });
  await blobs.createContainer(name, { metadata });
  await blobs.createBlockBlobFromText(name, "b", "x", { metadata });
}

async function read() {
  const found = { queue: await queues.getQueueMetadata(name), container: await blobs.getContainerMetadata(name), blob: await blobs.getBlobMetadata(name, "b") };
  console.log(JSON.stringify(Object.fromEntries(Object.entries(found).map(([what, p]) => [what, p.metadata]))));
}

({ write, read })[verb]();
