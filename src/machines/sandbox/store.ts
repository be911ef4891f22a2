import type { MachineFile, MachineSpec } from "#src/machines/Machines.ts"
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { machineDir, scratchDir, writeAtomically, type Yard } from "./paths.ts"
import type { ProcessId } from "./processes.ts"

/** What is known of a machine on disk; everything else is asked of the kernel. */
export interface MachineRecord {
  /** Its files lie beside: this record is read at every look. */
  readonly spec: Omit<MachineSpec, "files">
  /** How often it was started. */
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

export const readRecord = (yard: Yard, name: string): MachineRecord | undefined =>
  json(join(machineDir(yard, name), "machine.json")) as MachineRecord | undefined

export const writeRecord = (yard: Yard, record: MachineRecord) =>
  writeAtomically(join(machineDir(yard, record.spec.name), "machine.json"), JSON.stringify(record), true)

/** The whole directory appears at once, so that a crash leaves either no machine or one that can be listed. */
export const createRecord = (yard: Yard, record: MachineRecord, files: ReadonlyArray<MachineFile>) => {
  const making = scratchDir(yard)
  // The mount points are for the keeper's namespace; nothing is ever mounted on them in ours.
  for (const name of ["lower", "cow", "root", "mnt", "files"]) {
    mkdirSync(join(making, name), { recursive: true, mode: 0o755 })
  }
  if (files.length > 0) chmodSync(join(making, "files"), 0o755)
  for (const { content, name } of files) {
    const path = join(making, "files", name)
    writeFileSync(path, content, { flush: true })
    // For whatever user the image names; nobody but us gets as far as this directory from outside.
    chmodSync(path, 0o444)
  }
  writeAtomically(join(making, "machine.json"), JSON.stringify(record), true)
  renameSync(making, machineDir(yard, record.spec.name))
}

export const readExit = (yard: Yard, name: string): { readonly run: number; readonly exitCode: number } | undefined =>
  json(join(machineDir(yard, name), "exit.json")) as { run: number; exitCode: number } | undefined

export const writeExit = (yard: Yard, name: string, run: number, exitCode: number) =>
  writeAtomically(join(machineDir(yard, name), "exit.json"), JSON.stringify({ run, exitCode }))

export const removeRecord = (yard: Yard, name: string) => {
  const leaving = scratchDir(yard)
  try {
    renameSync(machineDir(yard, name), leaving)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
  rmSync(leaving, { recursive: true, force: true })
}

export const recordNames = (yard: Yard): ReadonlyArray<string> =>
  readdirSync(yard.machines).filter((name) => !name.startsWith("."))

const LONG_ENOUGH = 60_000

/** What was being made or removed when a platform died. Another one, just ending, may still be at it: hence the age. */
export const sweep = (yard: Yard) => {
  for (const name of readdirSync(yard.machines).filter((name) => /^\.[0-9a-f]{12}$/.test(name))) {
    const path = join(yard.machines, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found !== undefined && Date.now() - found.mtimeMs > LONG_ENOUGH) rmSync(path, { recursive: true, force: true })
  }
}
