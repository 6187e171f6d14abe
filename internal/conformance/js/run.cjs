// Runs the steps of one service in order, against the account of the connection string in ACCOUNT, and writes one line of
// JSON for each: its name, and the error if it failed. After a failed step the next ones still run.
"use strict";

const assert = require("node:assert/strict");

const steps = [];
const step = (name, run) => steps.push({ name, run });

// refused expects an error of the service with this status and code.
async function refused(promise, status, code) {
  const error = await promise.then(
    () => assert.fail(`was not refused with ${status} ${code}`),
    (e) => e,
  );
  const got = error.code ?? error.details?.errorCode ?? error.details?.odataError?.code;
  const all = [got, error.details?.errorCode, error.details?.odataError?.code, error.details?.code];
  assert.equal(error.statusCode, status, `${error.statusCode} ${got}: ${error.message}`);
  assert.ok(all.includes(code), `${all.join(", ")}, not ${code}`);
}

// all collects an async iterator.
async function all(iterator) {
  const list = [];
  for await (const item of iterator) list.push(item);
  return list;
}

const unique = (process.env.RUN || "r") + Date.now().toString(36);

async function main() {
  require(`./${process.argv[2]}.cjs`);
  for (const { name, run } of steps) {
    let error = null;
    try {
      await run();
    } catch (e) {
      error = e.stack || String(e);
    }
    console.log(JSON.stringify({ name, error }));
  }
}

module.exports = { step, refused, all, unique, account: process.env.ACCOUNT, assert };
if (require.main === module) main();
