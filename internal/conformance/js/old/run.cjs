// Runs the steps of one service as ../run.cjs does, with the package azure-storage, whose functions take a callback.
"use strict";

const { step, all, unique, account, assert } = require("../run.cjs");

// refused expects an error of the service with this status, if any, and code.
async function refused(promise, status, code) {
  const error = await promise.then(() => assert.fail(`was not refused with ${status} ${code}`), (e) => e);
  assert.deepEqual([status && error.statusCode, error.code], [status, code], String(error));
}

// promised returns the service with functions that return a promise of their first result.
const synchronous = new Set(["generateSharedAccessSignature", "getUrl"]);
const promised = (service) =>
  new Proxy(service, {
    get: (_, name) => (...args) =>
      synchronous.has(name)
        ? service[name](...args)
        : new Promise((resolve, reject) => service[name](...args, (error, result) => (error ? reject(error) : resolve(result)))),
  });

module.exports = { step, refused, promised, all, unique, account, assert };
