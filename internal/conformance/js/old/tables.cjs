"use strict";

const azure = require("azure-storage");
const { step, refused, promised, unique, account, assert } = require("./run.cjs");

const tables = promised(azure.createTableService(account));
const name = "Old" + unique;
const g = azure.TableUtilities.entityGenerator;
const key = { PartitionKey: g.String("Sales"), RowKey: g.String("it's 1") };
const everything = {
  ...key,
  text: g.String("Grüße 😀"),
  small: g.Int32(7),
  fraction: g.Double(1.5),
  flag: g.Boolean(true),
  big: g.Int64("9007199254740993"),
  when: g.DateTime(new Date("2020-01-02T03:04:05.678Z")),
  id: g.Guid("c9da6455-213d-42c9-9a79-3e9149a57833"),
  bytes: g.Binary(Buffer.from([1, 2, 3])),
};

step("create a table", () => tables.createTable(name));
step("create it if it is not there", async () => assert.equal((await tables.createTableIfNotExists(name)).created, false));
step("find it and another", async () => {
  assert.equal((await tables.doesTableExist(name)).exists, true);
  assert.equal((await tables.doesTableExist("none" + unique)).exists, false);
});
step("list tables", async () => assert.deepEqual((await tables.listTablesSegmentedWithPrefix(name, null)).entries, [name]));
step("an entity of every type", async () => {
  await tables.insertEntity(name, everything);
  const got = await tables.retrieveEntity(name, "Sales", "it's 1");
  assert.equal(got.text._, "Grüße 😀");
  assert.deepEqual([got.small._, got.fraction._, got.flag._, got.big._], [7, 1.5, true, "9007199254740993"]);
  assert.deepEqual([got.when._.toISOString(), got.id._, [...got.bytes._]], ["2020-01-02T03:04:05.678Z", everything.id._, [1, 2, 3]]);
  await refused(tables.insertEntity(name, everything), 409, "EntityAlreadyExists");
});
step("merge, replace and a version that is gone", async () => {
  const old = await tables.retrieveEntity(name, "Sales", "it's 1");
  await tables.mergeEntity(name, { ...key, more: g.String("x") });
  assert.equal((await tables.retrieveEntity(name, "Sales", "it's 1")).small._, 7);
  await tables.insertOrReplaceEntity(name, { ...key, more: g.String("y") });
  assert.equal((await tables.retrieveEntity(name, "Sales", "it's 1")).small, undefined);
  await refused(tables.replaceEntity(name, { ...key, ".metadata": old[".metadata"] }), 412, "UpdateConditionNotSatisfied");
});
step("delete", async () => {
  await tables.deleteEntity(name, key);
  await refused(tables.retrieveEntity(name, "Sales", "it's 1"), 404, "ResourceNotFound");
});
step("a batch", async () => {
  const batch = new azure.TableBatch();
  for (let i = 0; i < 100; i++) batch.insertEntity({ PartitionKey: g.String("B"), RowKey: g.String(String(i).padStart(3, "0")), n: g.Int32(i) });
  assert.equal((await tables.executeBatch(name, batch)).length, 100);
});
step("a batch that fails as a whole", async () => {
  const batch = new azure.TableBatch();
  for (const row of ["new", "000"]) batch.insertEntity({ PartitionKey: g.String("B"), RowKey: g.String(row) });
  await refused(tables.executeBatch(name, batch), undefined, "EntityAlreadyExists");
  await refused(tables.retrieveEntity(name, "B", "new"), 404, "ResourceNotFound");
});
step("query by pages, with a projection", async () => {
  const query = new azure.TableQuery().select(["RowKey"]).where("PartitionKey eq ? and n ge ?", "B", 50).top(20);
  let token = null;
  const sizes = [];
  do {
    const page = await tables.queryEntities(name, query, token);
    sizes.push(page.entries.length);
    token = page.continuationToken;
  } while (token);
  assert.deepEqual(sizes, [20, 20, 10]);
});
step("a query by a 64-bit number and a date", async () => {
  await tables.insertEntity(name, everything);
  const found = async (...where) => (await tables.queryEntities(name, new azure.TableQuery().where(...where), null)).entries.length;
  assert.equal(await found("big eq ?int64?", "9007199254740993"), 1);
  assert.equal(await found("when lt ?date?", new Date("2021-01-01")), 1);
});
step("properties of the service", async () => assert.equal((await tables.getServiceProperties()).Logging.Version, "1.0"));
step("delete the table", async () => {
  await tables.deleteTable(name);
  assert.equal((await tables.deleteTableIfExists(name + "x")), false);
});
