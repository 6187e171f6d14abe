// Writes the metadata of a queue, a container and a blob, or prints it: node run.cjs metadata write|read NAME.
"use strict";

const { BlobServiceClient } = require("@azure/storage-blob");
const { QueueServiceClient } = require("@azure/storage-queue");
const { account } = require("./run.cjs");

const [verb, name] = process.argv.slice(3);
const metadata = { UP: "Value", camelCase: "x y", low_1: "1" };
const queue = QueueServiceClient.fromConnectionString(account).getQueueClient(name);
const container = BlobServiceClient.fromConnectionString(account).getContainerClient(name);
const blob = container.getBlockBlobClient("b");

async function write() {
  await queue.create({ metadata });
  await container.create({ metadata });
  await blob.upload("x", 1, { metadata });
}

async function read() {
  const found = { queue: await queue.getProperties(), container: await container.getProperties(), blob: await blob.getProperties() };
  console.log(JSON.stringify(Object.fromEntries(Object.entries(found).map(([what, p]) => [what, p.metadata]))));
}

({ write, read })[verb]();
