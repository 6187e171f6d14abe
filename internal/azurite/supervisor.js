// Runs Azurite in this process for as long as somebody holds a control connection.
//
// Standard input: one JSON object {azurite, token, rendezvous, graceMillis}.
// Standard output: one JSON line, {pid, control, table, queue, blob} when all services answer, or {unusable} when
// this Node.js cannot run Azurite.
//
// A control connection sends the token and a newline, and is answered with {pid, table, queue, blob} and a newline.
// The kernel closes it when its process ends, however it ends. When the last one has been closed for the grace time,
// this process removes its rendezvous file and exits, and Azurite with it: one process, so nothing can stay behind.
"use strict";

const fs = require("fs");
const net = require("net");
const path = require("path");

const config = JSON.parse(fs.readFileSync(0, "utf8"));
const greetMillis = 5000;
const startMillis = 60000;
const firstMillis = 10000; // for the first connection, however short the grace time is

if (Number(process.versions.node.split(".")[0]) < 18) {
  say({ unusable: "Node.js " + process.versions.node + " is too old, 18 or later is needed" });
  process.exit(0);
}

function say(message) {
  fs.writeSync(1, JSON.stringify(message) + "\n");
}

function end(code) {
  try {
    if (JSON.parse(fs.readFileSync(config.rendezvous, "utf8")).pid === process.pid) {
      fs.unlinkSync(config.rendezvous);
    }
  } catch {
    // No file, or not ours: nothing to remove.
  }
  process.exit(code);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => end(0));
}

// Azurite says on the console where each service listens; that is its only report of a port the system chose.
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

let held = 0;
let idleTimer;

function idle(millis) {
  idleTimer = setTimeout(() => end(0), millis);
}

function hold(socket) {
  held++;
  clearTimeout(idleTimer);
  socket.once("close", () => {
    held--;
    if (held === 0) idle(config.graceMillis);
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
    hold(socket);
  };
  socket.on("data", read);
}

function listen() {
  const server = net.createServer(greet);
  server.listen(0, "127.0.0.1", () => {
    clearTimeout(startTimer);
    idle(Math.max(config.graceMillis, firstMillis));
    say({ pid: process.pid, control: server.address().port, ...endpoints });
  });
}

const main = path.join(config.azurite, "dist", "src", "azurite.js");
process.argv = [process.argv[0], main, "--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"];
for (const service of ["blob", "queue", "table"]) {
  // A long keep-alive: a server that closes idle connections early makes clients meet resets at random.
  process.argv.push(`--${service}Host`, "127.0.0.1", `--${service}Port`, "0", `--${service}KeepAliveTimeout`, "600");
}
require(main);
