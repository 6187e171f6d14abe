// Writes a row with every type to the table TABLE of the account of the connection string in ACCOUNT.
"use strict";

const { TableClient } = require("@azure/data-tables");

async function main() {
  const table = TableClient.fromConnectionString(process.env.ACCOUNT, process.env.TABLE, { allowInsecureConnection: true });
  await table.createTable();
  await table.createEntity({
    partitionKey: "it's",
    rowKey: "Grüße 😀",
    text: "a\u0000b\n\"<&>",
    small: -7,
    fraction: 1.5,
    whole: { type: "Double", value: "3" },
    nan: { type: "Double", value: "NaN" },
    infinite: { type: "Double", value: "Infinity" },
    flag: true,
    big: 9223372036854775807n,
    when: new Date("2020-01-02T03:04:05.678Z"),
    first: { type: "DateTime", value: "1601-01-01T00:00:00.0000000Z" },
    last: { type: "DateTime", value: "9999-12-31T23:59:59.9999999Z" },
    id: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
    bytes: new Uint8Array([0, 1, 255]),
  });
}

main().catch((e) => {
  console.error(e);
  process.exitCode = 1;
});
