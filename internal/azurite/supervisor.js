// Runs Azurite in this process as long as a control connection is open.
//
// Standard input: one JSON object {azurite, token, rendezvous, graceMillis, args}.
// Standard output: one JSON line: {pid, control, table, queue, blob} when all services are ready, or {unusable} if
// this Node.js cannot run Azurite.
//
// On a control connection the client sends the token and a newline, and this process answers with
// {pid, table, queue, blob} and a newline. The kernel closes the connection when the client process ends. When no
// connection has been open for the grace time, this process removes its rendezvous file and exits. Azurite runs in the
// same process, so it ends as well.
"use strict";

const fs = require("fs");
const net = require("net");
const path = require("path");

const config = JSON.parse(fs.readFileSync(0, "utf8"));
const greetMillis = 5000;
const startMillis = 60000;
const firstMillis = 10000; // minimum time to wait for the first connection

if (Number(process.versions.node.split(".")[0]) < 18) {
  report({ unusable: "Node.js " + process.versions.node + " is too old, 18 or later is required" });
  process.exit(0);
}

function report(message) {
  fs.writeSync(1, JSON.stringify(message) + "\n");
}

function end(code) {
  try {
    if (JSON.parse(fs.readFileSync(config.rendezvous, "utf8")).pid === process.pid) {
      fs.unlinkSync(config.rendezvous);
    }
  } catch {
    // The file does not exist, or is not a rendezvous file.
  }
  process.exit(code);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => end(0));
}

// Azurite reports the port of each service only on the console.
const endpoints = {};
console.log = (line) => {
  const found = /^Azurite (Blob|Queue|Table) service is successfully listening at (\S+)$/.exec(String(line));
  if (!found) return;
  endpoints[found[1].toLowerCase()] = found[2];
  if (Object.keys(endpoints).length === 3) listen();
};
const startTimer = setTimeout(() => {
  console.error("Azurite did not start within " + startMillis + " ms");
  end(1);
}, startMillis);

let connections = 0;
let idleTimer;

function idle(millis) {
  idleTimer = setTimeout(() => end(0), millis);
}

function accept(socket) {
  connections++;
  clearTimeout(idleTimer);
  socket.once("close", () => {
    connections--;
    if (connections === 0) idle(config.graceMillis);
  });
  socket.write(JSON.stringify({ pid: process.pid, ...endpoints }) + "\n");
}

function greet(socket) {
  let text = "";
  socket.setEncoding("utf8");
  socket.setTimeout(greetMillis, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.destroy());
  const read = (chunk) => {
    text += chunk;
    if (!text.includes("\n") && text.length <= config.token.length) return;
    socket.removeListener("data", read);
    if (text !== config.token + "\n") {
      socket.destroy();
      return;
    }
    socket.setTimeout(0);
    socket.resume();
    accept(socket);
  };
  socket.on("data", read);
}

function listen() {
  const server = net.createServer(greet);
  server.listen(0, "127.0.0.1", () => {
    clearTimeout(startTimer);
    idle(Math.max(config.graceMillis, firstMillis));
    report({ pid: process.pid, control: server.address().port, ...endpoints });
  });
}

const main = path.join(config.azurite, "dist", "src", "azurite.js");
process.argv = [process.argv[0], main, "--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", ...(config.args ?? [])];
for (const service of ["blob", "queue", "table"]) {
  // With a short keep-alive timeout, clients see random connection resets when the server closes idle connections.
  process.argv.push(`--${service}Host`, "127.0.0.1", `--${service}Port`, "0", `--${service}KeepAliveTimeout`, "600");
}
require(main);
