// @ts-check
import { hashSync, verifySync } from "@node-rs/argon2"
import { setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"

/**
 * A thread that hashes: one task, one answer. It is JavaScript because Node loads a worker's file directly: this file
 * under the tests, its copy in dist/ next to the bundle.
 */

/** @type {{ nice: number, options: import("@node-rs/argon2").Options }} */
const { nice, options } = workerData

// On Linux the priority is the thread's own (setpriority(2), "NPTL"); elsewhere it would be the whole process's.
if (process.platform === "linux") {
  try {
    setPriority(0, nice)
  } catch {
    // A sandbox may forbid the call; hashing then runs at normal priority.
  }
}

/** @param {import("./Passwords.ts").HashTask} task */
const answer = ({ password, stored }) => {
  try {
    return { ok: stored === undefined ? hashSync(password, options) : verifySync(stored, password) }
  } catch (error) {
    return { error: String(error) }
  }
}

parentPort?.on("message", (task) => parentPort?.postMessage(answer(task)))
