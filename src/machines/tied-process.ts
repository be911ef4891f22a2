import { alive, identify, type ProcessId } from "#src/shared/processes.ts"
import { execFile } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import { promisify } from "node:util"
import { waitForGo } from "./sandbox/launcher.ts"
import { locate } from "./sandbox/programs.ts"

const run = promisify(execFile)

/** setpriv of util-linux ≥ 2.33; that of BusyBox does not know the option. */
const findTie = async (): Promise<ReadonlyArray<string>> => {
  const setpriv = locate("setpriv")
  if (setpriv === undefined) return []
  const tie = [setpriv, "--pdeathsig", "KILL", "--"]
  return run(setpriv, [...tie.slice(1), "/bin/sh", "-c", ":"], { timeout: 10_000 }).then(() => tie, () => [])
}

let tie: Promise<ReadonlyArray<string>> | undefined

/**
 * The command of a program that the kernel kills when the platform dies, however it dies (prctl(2), PR_SET_PDEATHSIG);
 * as it is where this host has nothing for that.
 */
export const tied = async (
  program: string,
  args: ReadonlyArray<string>
): Promise<readonly [string, ...Array<string>]> => {
  const [first, ...rest] = [...await (tie ??= findTie()), program, ...args]
  return [first ?? program, ...rest]
}

/** The same, which starts when a line comes on its standard input: by then its id is on disk. Without one it ends. */
export const tiedOnGo = async (program: string, args: ReadonlyArray<string>) =>
  ["/bin/sh", ["-c", waitForGo, "berth-program", ...await tied(program, args)]] as const

/** Beside the folder that a program may fill, where it can't write. */
const noteOf = (folder: string) => `${folder}.process`

/** Notes which process, the leader of its group, fills the folder. */
export const noteProcess = (folder: string, pid: number | undefined) => {
  const self = pid === undefined ? undefined : identify(pid)
  if (self !== undefined) writeFileSync(noteOf(folder), JSON.stringify(self), { mode: 0o600 })
}

export const forgetProcess = (folder: string) => rmSync(noteOf(folder), { force: true })

const noted = (folder: string): ProcessId | undefined => {
  try {
    return JSON.parse(readFileSync(noteOf(folder), "utf8")) as ProcessId
  } catch {
    // There is none, or the platform died as it wrote it: then its process was never told to go.
    return undefined
  }
}

/** Ends the group of the process that a dead platform left at work in the folder; waits until it is gone. */
export const endNoted = async (folder: string): Promise<void> => {
  const left = noted(folder)
  if (left === undefined || !alive(left)) return
  try {
    process.kill(-left.pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
  for (let tries = 0; alive(left) && tries < 200; tries++) await pause(10)
}
