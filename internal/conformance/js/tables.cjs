"use strict";

const { AzureNamedKeyCredential, AzureSASCredential, generateTableSas, odata, TableClient, TableServiceClient, TableTransaction } = require("@azure/data-tables");
const { step, refused, all, unique, account, assert } = require("./run.cjs");

const options = { allowInsecureConnection: true };
const service = TableServiceClient.fromConnectionString(account, options);
const name = "Js" + unique;
const table = TableClient.fromConnectionString(account, name, options);

step("create a table", () => table.createTable());
step("create it again, which the package takes for done", () => table.createTable());
step("list tables", async () => {
  const found = await all(service.listTables({ queryOptions: { filter: odata`TableName eq ${name}` } }));
  assert.deepEqual(found.map((t) => t.name), [name]);
});

const everything = {
  partitionKey: "Sales",
  rowKey: "it's 1",
  text: "Grüße 😀",
  small: 7,
  fraction: 1.5,
  whole: { type: "Double", value: "3" },
  flag: true,
  big: 9007199254740993n,
  when: new Date("2020-01-02T03:04:05.678Z"),
  id: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
  bytes: new Uint8Array([1, 2, 3]),
};

step("create an entity of every type", async () => {
  const res = await table.createEntity(everything);
  assert.match(res.etag, /^W\/"datetime'/);
});
step("get it with the types it was stored with", async () => {
  const e = await table.getEntity("Sales", "it's 1");
  assert.equal(e.text, everything.text);
  assert.equal(e.small, 7);
  assert.equal(e.fraction, 1.5);
  assert.equal(e.whole, 3);
  assert.equal(e.flag, true);
  assert.equal(e.big, everything.big);
  assert.equal(e.when.getTime(), everything.when.getTime());
  assert.equal(e.id.value, everything.id.value);
  assert.deepEqual([...e.bytes], [1, 2, 3]);
  assert.ok(e.etag && e.timestamp);
});
step("create it again", () => refused(table.createEntity(everything), 409, "EntityAlreadyExists"));
step("get an entity that is not there", () => refused(table.getEntity("Sales", "none"), 404, "ResourceNotFound"));
step("merge", async () => {
  await table.updateEntity({ partitionKey: "Sales", rowKey: "it's 1", more: "x" }, "Merge");
  const e = await table.getEntity("Sales", "it's 1");
  assert.equal(e.more, "x");
  assert.equal(e.small, 7);
});
step("replace", async () => {
  await table.updateEntity({ partitionKey: "Sales", rowKey: "it's 1", more: "y" }, "Replace");
  const e = await table.getEntity("Sales", "it's 1");
  assert.equal(e.more, "y");
  assert.equal(e.small, undefined);
});
step("replace a version that is gone", async () => {
  const old = await table.getEntity("Sales", "it's 1");
  await table.upsertEntity({ partitionKey: "Sales", rowKey: "it's 1", more: "z" }, "Replace");
  await refused(table.updateEntity({ partitionKey: "Sales", rowKey: "it's 1" }, "Replace", { etag: old.etag }), 412, "UpdateConditionNotSatisfied");
});
step("delete", async () => {
  await table.deleteEntity("Sales", "it's 1");
  await refused(table.getEntity("Sales", "it's 1"), 404, "ResourceNotFound");
});
step("a transaction of every kind", async () => {
  for (const rowKey of ["1", "2", "3"]) await table.upsertEntity({ partitionKey: "T", rowKey, n: 1 });
  const t = new TableTransaction();
  t.createEntity({ partitionKey: "T", rowKey: "new" });
  t.updateEntity({ partitionKey: "T", rowKey: "1", n: 2 }, "Merge");
  t.upsertEntity({ partitionKey: "T", rowKey: "2", n: 2 }, "Replace");
  t.deleteEntity("T", "3");
  const res = await table.submitTransaction(t.actions);
  assert.equal(res.status, 202);
  assert.deepEqual((await all(table.listEntities({ queryOptions: { filter: odata`PartitionKey eq ${"T"}` } }))).map((e) => e.rowKey), ["1", "2", "new"]);
});
step("a transaction that fails changes nothing", async () => {
  const actions = [
    ["create", { partitionKey: "T", rowKey: "other" }],
    ["create", { partitionKey: "T", rowKey: "1" }],
  ];
  await refused(table.submitTransaction(actions), 409, "EntityAlreadyExists");
  await refused(table.getEntity("T", "other"), 404, "ResourceNotFound");
});
step("query by page and with a continuation token", async () => {
  const actions = Array.from({ length: 100 }, (_, i) => ["create", { partitionKey: "Q", rowKey: String(i).padStart(3, "0"), n: i }]);
  await table.submitTransaction(actions);
  const query = { queryOptions: { filter: odata`PartitionKey eq ${"Q"} and n ge ${10}`, select: ["rowKey", "n"] } };
  const first = (await table.listEntities(query).byPage({ maxPageSize: 7 }).next()).value;
  assert.equal(first.length, 7);
  assert.equal(first[0].n, 10);
  const rest = [];
  for await (const page of table.listEntities(query).byPage({ maxPageSize: 50, continuationToken: first.continuationToken })) rest.push(...page);
  assert.equal(rest.length, 83);
  assert.equal(rest[0].n, 17);
});
step("query by a date, a big number and a Guid", async () => {
  await table.upsertEntity({ ...everything, partitionKey: "F" });
  for (const filter of [odata`when eq ${everything.when}`, "big eq 9007199254740993L", "id eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'", odata`rowKey eq ${"it's 1"}`.replace("rowKey", "RowKey")]) {
    const found = await all(table.listEntities({ queryOptions: { filter: `PartitionKey eq 'F' and ${filter}` } }));
    assert.equal(found.length, 1, filter);
  }
});
step("access policies", async () => {
  await table.setAccessPolicy([{ id: "one", accessPolicy: { start: new Date("2020-01-01"), expiry: new Date("2099-01-01"), permission: "raud" } }]);
  const got = await table.getAccessPolicy();
  assert.equal(got[0].id, "one");
});
step("a shared access signature for a range of keys", async () => {
  const part = (key) => new RegExp(`${key}=([^;]*)`).exec(account)[1];
  const sas = generateTableSas(name, new AzureNamedKeyCredential(part("AccountName"), part("AccountKey")), {
    permissions: { query: true }, startPartitionKey: "Q", startRowKey: "010", endPartitionKey: "Q", endRowKey: "019",
  });
  const signed = new TableClient(part("TableEndpoint"), name, new AzureSASCredential(sas), options);
  assert.equal((await signed.getEntity("Q", "010")).n, 10);
  await refused(signed.deleteEntity("Q", "010"), 403, "AuthorizationPermissionMismatch");
});
step("a body over 4 MiB", () => refused(table.createEntity({ partitionKey: "p", rowKey: "r", text: "x".repeat(8 << 20) }), 413, "RequestBodyTooLarge"));
step("delete the table", () => table.deleteTable());
step("use the deleted table", async () => {
  await assert.rejects(table.createEntity({ partitionKey: "p", rowKey: "r" }), (e) => e.statusCode === 404 || e.statusCode === 409);
});
