import type { MachineFile, MachineSpec } from "#src/machines/Machines.ts"
import type { ProcessId } from "#src/shared/processes.ts"
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { machineDir, type MachinePaths, scratchDir, writeAtomically } from "./paths.ts"

/** A machine's state on disk; all other state is read from the kernel. */
export interface MachineRecord {
  /** Its files are stored apart, since this record is read on every inspection. */
  readonly spec: Omit<MachineSpec, "files">
  /** Number of starts. */
  readonly run: number
  /** Written before the process may do anything: see `waitForGo`. */
  readonly process: ProcessId | null
}

const json = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, "utf8"))
  } catch {
    return undefined
  }
}

export const readRecord = (paths: MachinePaths, name: string): MachineRecord | undefined =>
  json(join(machineDir(paths, name), "machine.json")) as MachineRecord | undefined

export const writeRecord = (paths: MachinePaths, record: MachineRecord) =>
  writeAtomically(join(machineDir(paths, record.spec.name), "machine.json"), JSON.stringify(record), true)

/** The whole directory appears at once, so that a crash leaves either no machine or one that can be listed. */
export const createRecord = (paths: MachinePaths, record: MachineRecord, files: ReadonlyArray<MachineFile>) => {
  const staging = scratchDir(paths)
  // The mount points are for the keeper's namespace; nothing is ever mounted on them in ours.
  for (const name of ["lower", "cow", "root", "mnt", "files"]) {
    mkdirSync(join(staging, name), { recursive: true, mode: 0o755 })
  }
  if (files.length > 0) chmodSync(join(staging, "files"), 0o755)
  for (const { content, name } of files) {
    const path = join(staging, "files", name)
    writeFileSync(path, content, { flush: true })
    // Readable by any user that the image names; outside, only we can enter this directory.
    chmodSync(path, 0o444)
  }
  writeAtomically(join(staging, "machine.json"), JSON.stringify(record), true)
  renameSync(staging, machineDir(paths, record.spec.name))
}

export const readExit = (
  paths: MachinePaths,
  name: string
): { readonly run: number; readonly exitCode: number } | undefined =>
  json(join(machineDir(paths, name), "exit.json")) as { run: number; exitCode: number } | undefined

const changedAt = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.mtimeMs

/** A record is written with each start, and no more until the next. */
export const startedAt = (paths: MachinePaths, name: string) => changedAt(join(machineDir(paths, name), "machine.json"))

/** Undefined where no end was recorded, of whatever run. */
export const endedAt = (paths: MachinePaths, name: string) => changedAt(join(machineDir(paths, name), "exit.json"))

export const writeExit = (paths: MachinePaths, name: string, run: number, exitCode: number) =>
  writeAtomically(join(machineDir(paths, name), "exit.json"), JSON.stringify({ run, exitCode }))

export const removeRecord = (paths: MachinePaths, name: string) => {
  const trash = scratchDir(paths)
  try {
    renameSync(machineDir(paths, name), trash)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
  rmSync(trash, { recursive: true, force: true })
}

export const recordNames = (paths: MachinePaths): ReadonlyArray<string> =>
  readdirSync(paths.machines).filter((name) => !name.startsWith("."))

const STALE_MILLIS = 60_000

/** Removes what a dead platform was staging or removing. One that is just ending may still do so: hence the age. */
export const sweep = (paths: MachinePaths) => {
  for (const name of readdirSync(paths.machines).filter((name) => /^\.[0-9a-f]{12}$/.test(name))) {
    const path = join(paths.machines, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats !== undefined && Date.now() - stats.mtimeMs > STALE_MILLIS) rmSync(path, { recursive: true, force: true })
  }
}
