#!/usr/bin/env node
// Starts the program of the package for this platform, which npm installed beside this one.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

/** Packages that can hold the program of this machine, the best first. */
function listPackages() {
  const name = `@jurist/${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [name];
  // Old versions of npm install both: the program for musl is static and runs everywhere, the other one is faster.
  const hasGlibc = Boolean(process.report?.getReport().header.glibcVersionRuntime);
  return hasGlibc ? [name, `${name}-musl`] : [`${name}-musl`];
}

function findProgram() {
  if (process.env.JURIST_BINARY) return process.env.JURIST_BINARY;
  const file = process.platform === "win32" ? "jurist.exe" : "jurist";
  for (const name of listPackages()) {
    try {
      return require.resolve(`${name}/bin/${file}`);
    } catch {
      // The next one.
    }
  }
  console.error(
    `error: there is no jurist program for ${process.platform} on ${process.arch}: ${listPackages().join(" and ")} ` +
      "are not installed. Install without `--omit=optional`, or name a program in JURIST_BINARY.",
  );
  process.exit(2);
}

const program = findProgram();
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`error: cannot start ${program}: ${error.message}`);
  process.exit(2);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    // A terminal sends Ctrl+C to both; a second one would end the program before it has stored its results. On Windows
    // the console tells both of every signal. To send one ends the program at once, and SIGHUP cannot be sent.
    const isSentToBoth = process.platform === "win32" || (signal === "SIGINT" && process.stdin.isTTY);
    if (!isSentToBoth) child.kill(signal);
  });
}
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
