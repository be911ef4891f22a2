import {
  type MachineAddress,
  MachineError,
  type MachineRun,
  type MachineSpec,
  type MachineState
} from "#src/machines/Machines.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { alive, childOf, signal } from "#src/shared/processes.ts"
import { Effect, Stream } from "effect"
import { lstatSync, rmSync } from "node:fs"
import { join } from "node:path"
import { type AuthWay } from "./auth-way.ts"
import { type Cgroups, killGroup, removeCgroup } from "./cgroups.ts"
import { launch } from "./launch.ts"
import { limitsOf } from "./limits.ts"
import { listeningPorts } from "./listening.ts"
import { type MachineSockets } from "./machine-sockets.ts"
import { followOutput } from "./output.ts"
import { machineDir, type MachinePaths, socketPath } from "./paths.ts"
import { missingProgram } from "./programs.ts"
import { proxyVariables } from "./proxy-variables.ts"
import { SandboxError } from "./SandboxError.ts"
import * as store from "./store.ts"
import type { Prepared, Tier } from "./Tier.ts"
import { resolveUser } from "./user.ts"
import { environmentOf, goodName, hostnameOf, specProblem } from "./validate.ts"

export interface Host {
  readonly paths: MachinePaths
  readonly tier: Tier
  readonly cgroups: Cgroups | undefined
  readonly overlay: boolean
  /** Undefined: machines reach nothing outside. */
  readonly auth: AuthWay | undefined
  /** What else machines reach; undefined: nothing. */
  readonly egress: MachineSockets | undefined
}

const KILLED = 137

const failure = (operation: string, machine: string) => (error: unknown) =>
  new MachineError({ operation, machine, message: messageOf(error) })

const addressOf = (paths: MachinePaths, name: string): MachineAddress => ({
  _tag: "Unix",
  path: socketPath(paths, name)
})

/** A directory whose record cannot be read is still listed, with no owner, so that it can be destroyed. */
export const stateOf = (paths: MachinePaths, name: string): MachineState | undefined => {
  const record = store.readRecord(paths, name)
  if (record === undefined) {
    return lstatSync(machineDir(paths, name), { throwIfNoEntry: false }) === undefined
      ? undefined
      : { name, owner: "", status: "exited", address: addressOf(paths, name), exitCode: null }
  }
  const base = { name, owner: record.spec.owner, address: addressOf(paths, name), exitCode: null }
  if (record.process === null) return { ...base, status: "created" }
  if (alive(record.process)) return { ...base, status: "running" }
  const exit = store.readExit(paths, name)
  return { ...base, status: "exited", exitCode: exit?.run === record.run ? exit.exitCode : null }
}

/** Undefined: it was never started, or its record can't be read. */
export const runOf = (paths: MachinePaths, name: string): MachineRun | undefined => {
  const record = store.readRecord(paths, name)
  const startedAt = store.startedAt(paths, name)
  if (record === undefined || record.process === null || startedAt === undefined) return undefined
  const run = { name, owner: record.spec.owner, startedAt }
  if (alive(record.process)) return { ...run, endedAt: undefined }
  const isRecorded = store.readExit(paths, name)?.run === record.run
  return { ...run, endedAt: isRecorded ? store.endedAt(paths, name) ?? null : null }
}

const prepare = (host: Host, spec: store.MachineRecord["spec"]): Prepared => {
  const user = resolveUser(spec.rootfs, spec.config.user)
  if (typeof user === "string") throw new Error(user)
  const dir = machineDir(host.paths, spec.name)
  return {
    name: spec.name,
    hostname: hostnameOf(spec.name),
    dir,
    root: join(dir, "root"),
    readOnly: !host.overlay,
    argv: [...spec.config.entrypoint, ...spec.config.cmd],
    env: environmentOf(spec, user.home, host.egress && proxyVariables(host.auth?.name ?? "")),
    workingDir: spec.config.workingDir || "/",
    user,
    limits: limitsOf(spec),
    cgroup: host.cgroups && `${host.paths.cgroup}/${spec.name}`
  }
}

export const provision = (host: Host, spec: MachineSpec) =>
  Effect.try({
    try: (): MachineState => {
      const problem = specProblem(spec)
      if (problem !== undefined) throw new Error(problem)
      if (lstatSync(spec.rootfs, { throwIfNoEntry: false })?.isDirectory() !== true) {
        throw new Error(`${spec.rootfs} is not a directory`)
      }
      const existing = stateOf(host.paths, spec.name)
      if (existing !== undefined) return existing
      const { files = [], ...stored } = spec
      prepare(host, stored)
      store.createRecord(host.paths, { spec: stored, run: 0, process: null }, files)
      return {
        name: spec.name,
        owner: spec.owner,
        status: "created",
        address: addressOf(host.paths, spec.name),
        exitCode: null
      }
    },
    catch: failure("provision", spec.name)
  })

const endsWithin = (process: Parameters<typeof alive>[0], millis: number) =>
  Effect.gen(function*() {
    for (let remaining = millis; alive(process); remaining -= 10) {
      if (remaining <= 0) return false
      yield* Effect.sleep(10)
    }
    return true
  })

/** The keeper is PID 1 of the namespace around the machine: when it is killed, the kernel kills all within. */
const kill = (host: Host, name: string) =>
  Effect.gen(function*() {
    const record = store.readRecord(host.paths, name)
    if (record === undefined || record.process === null) return
    const { process } = record
    const wasAlive = alive(process)
    for (let tries = 0; alive(process); tries++) {
      if (tries === 200) return yield* new SandboxError({ message: `process ${process.pid} cannot be killed` })
      const keeper = childOf(process)
      // A launcher that was stopped leaves its dead keeper a zombie, and does not end by itself.
      signal(keeper !== undefined && alive(keeper) ? keeper : process, "SIGKILL")
      if (yield* endsWithin(process, 50)) break
    }
    if (wasAlive && store.readExit(host.paths, name)?.run !== record.run) {
      // Killed it is also where that can't be written: its folder is gone already, or the disk is full.
      yield* Effect.ignoreLogged(Effect.try(() => store.writeExit(host.paths, name, record.run, KILLED)))
    }
    yield* removeTraces(host, name)
  })

/** Removes what a killed keeper or runc could not clean up itself, and what the platform listens on for the machine. */
const removeTraces = (host: Host, name: string) =>
  Effect.gen(function*() {
    rmSync(socketPath(host.paths, name), { force: true })
    host.auth?.close(name)
    host.egress?.close(name)
    const group = `${host.paths.cgroup}/${name}`
    for (let tries = 0; !removeCgroup(group); tries++) {
      if (tries === 100) return yield* new SandboxError({ message: "its cgroup is still in use" })
      // A machine whose record is lost is known by its group alone.
      if (tries === 10) yield* Effect.try(() => killGroup(group)).pipe(Effect.ignore)
      yield* Effect.sleep(20)
    }
  })

export const start = (host: Host, name: string) =>
  Effect.gen(function*() {
    const record = store.readRecord(host.paths, name)
    if (record === undefined) return yield* new SandboxError({ message: "it was not provisioned" })
    if (record.process !== null && alive(record.process)) return
    const problem = missingProgram(host.tier)
    if (problem !== undefined) {
      yield* Effect.logError(`No machine can be started: ${problem}`)
      return yield* new SandboxError({ message: problem })
    }
    yield* removeTraces(host, name)
    const run = record.run + 1
    const machine = yield* Effect.try(() => prepare(host, record.spec))
    const { auth, egress } = host
    yield* launch({
      ...host,
      auth: auth && { ...auth, socket: yield* auth.open(name) },
      egress: egress && { socket: yield* egress.open(name) },
      machine,
      run,
      rootfs: record.spec.rootfs,
      socket: socketPath(host.paths, name),
      port: record.spec.port,
      record: (process) => store.writeRecord(host.paths, { ...record, run, process })
    })
  }).pipe(
    Effect.mapError(failure("start", name)),
    Effect.zipRight(Effect.suspend(() => {
      const state = stateOf(host.paths, name)
      return state === undefined ? Effect.fail(failure("start", name)("it is gone")) : Effect.succeed(state)
    }))
  )

export const stop = (host: Host, name: string, graceSeconds: number) =>
  Effect.gen(function*() {
    const process = store.readRecord(host.paths, name)?.process
    if (!process) return
    const inner = childOf(process)
    if (inner !== undefined && graceSeconds > 0) {
      signal(inner, "SIGTERM")
      yield* endsWithin(process, graceSeconds * 1000)
    }
    yield* kill(host, name)
  }).pipe(Effect.mapError(failure("stop", name)))

/**
 * Kills without the machine's lock: a stop's grace period must not delay it. Whoever holds the lock may remove the machine
 * meanwhile, so that a failure here says nothing: whoever calls it does the same again with the lock.
 */
export const killNow = (host: Host, name: string) => Effect.ignore(kill(host, name))

export const destroy = (host: Host, name: string) =>
  kill(host, name).pipe(
    Effect.zipRight(removeTraces(host, name)),
    Effect.zipRight(Effect.try(() => store.removeRecord(host.paths, name))),
    Effect.mapError(failure("destroy", name))
  )

/** The launcher and its child, the keeper, are in the machine's network namespace; what they listen on is the platform's. */
export const listening = (host: Host, name: string): ReadonlyArray<number> => {
  const process = store.readRecord(host.paths, name)?.process
  if (!process || !alive(process)) return []
  const keeper = childOf(process)
  return keeper === undefined ? [] : listeningPorts(keeper.pid, [process.pid, keeper.pid])
}

export const output = (host: Host, name: string, offset: number) =>
  Stream.suspend(() =>
    goodName(name) && stateOf(host.paths, name) !== undefined
      ? followOutput(machineDir(host.paths, name), Math.max(0, Math.trunc(offset) || 0))
      : Stream.fail(failure("output", name)("there is no such machine"))
  )
