import { SettingError } from "#src/config/Settings.ts"
import { type MachineLine, Machines, type MachineSpec, type MachineState } from "#src/machines/Machines.ts"
import { SandboxLive } from "#src/machines/sandbox/Sandbox.ts"
import { Chunk, Effect, Layer, ManagedRuntime, Stream } from "effect"
import { readFileSync } from "node:fs"
import * as http from "node:http"
import { type Server } from "node:net"
import { testRootfs } from "../support/rootfs.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"

export type TierName = "runc" | "bubblewrap" | "util-linux"

export const sandboxOf = (
  home: string,
  tier: string,
  variables: Readonly<Record<string, string>> = {}
): Layer.Layer<Machines, SettingError> =>
  SandboxLive.pipe(
    Layer.provide(settingsTest({ BERTH_HOME: home, SANDBOX_TIER: tier, ...variables })),
    Layer.mapError((error) => error instanceof SettingError ? error : new SettingError({ message: String(error) }))
  )

/** Calls of one driver as plain promises, the shape that a test reads best in. */
export const driverOf = (
  tier: string,
  home = temporaryDirectory("m"),
  variables: Readonly<Record<string, string>> = {},
  /** Answers what machines ask of AUTH_URL. */
  makeServer?: (machine: string) => Server,
  /** Answers what they ask of everybody else. */
  makeEgress?: (machine: string) => Server
) => {
  const answering = Layer.scopedDiscard(Effect.gen(function*() {
    const machines = yield* Machines
    if (makeServer !== undefined) yield* machines.serveAuth(makeServer)
    if (makeEgress !== undefined) yield* machines.serveEgress(makeEgress)
  }))
  const runtime = ManagedRuntime.make(Layer.provideMerge(answering, sandboxOf(home, tier, variables)))
  const use = <A, E>(f: (machines: typeof Machines.Service) => Effect.Effect<A, E>) =>
    runtime.runPromise(Effect.flatMap(Machines, f))
  return {
    home,
    use,
    info: () => use((m) => Effect.map(m.guarantees, (guarantees) => ({ ...m.driver, ...guarantees }))),
    provision: (spec: MachineSpec) => use((m) => m.provision(spec)),
    start: (name: string) => use((m) => m.start(name)),
    stop: (name: string, grace?: number) => use((m) => m.stop(name, grace)),
    destroy: (name: string) => use((m) => m.destroy(name)),
    inspect: (name: string) => use((m) => m.inspect(name)),
    listening: (name: string) => use((m) => m.listening(name)),
    list: (owner?: string) => use((m) => m.list(owner)),
    lines: (name: string, count: number, offset = 0): Promise<ReadonlyArray<MachineLine>> =>
      use((m) => m.output(name, offset).pipe(Stream.take(count), Stream.runCollect, Effect.map(Chunk.toReadonlyArray))),
    /** The platform ends in good order; its machines stay. */
    close: () => runtime.dispose(),
    clear: async () => {
      for (const { name } of await use((m) => m.list())) await use((m) => m.destroy(name))
      await runtime.dispose()
    }
  }
}

export type Driver = ReturnType<typeof driverOf>

export const specOf = (
  name: string,
  change: Partial<MachineSpec> = {},
  command?: ReadonlyArray<string>
): MachineSpec => ({
  name,
  owner: "srv_1",
  rootfs: testRootfs(),
  config: { entrypoint: command ?? ["node", "/app/server.cjs"], cmd: [], env: [], workingDir: "/app", user: "" },
  env: {},
  port: 3000,
  cpu: "shared-1x",
  memoryMb: 256,
  ...change
})

const pathOf = (state: MachineState) => state.address._tag === "Unix" ? state.address.path : ""

export const request = (state: MachineState, path: string, body?: string | Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options = { socketPath: pathOf(state), path, method: body === undefined ? "GET" : "POST", agent: false }
    const sent = http.request(options, (answer) => {
      const parts: Array<Buffer> = []
      answer.on("data", (part: Buffer) => parts.push(part))
      answer.on("end", () => resolve(Buffer.concat(parts)))
      answer.on("error", reject)
    })
    sent.on("error", reject)
    sent.end(body)
  })

export const socketOf = pathOf

export const until = async <A>(what: () => Promise<A | undefined> | A | undefined, seconds = 10): Promise<A> => {
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    const found = await what()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`did not happen in ${seconds} seconds`)
}

/** Waits until the machine's process answers. */
export const reached = (state: MachineState) => until(() => request(state, "/").catch(() => undefined))

export interface Self {
  readonly env: Record<string, string>
  readonly argv: ReadonlyArray<string>
  readonly cwd: string
  readonly uid: number
  readonly gid: number
  readonly pid: number
  readonly hostname: string
  readonly interfaces: ReadonlyArray<string>
}

export const about = async (state: MachineState): Promise<Self> => JSON.parse(String(await reached(state))) as Self

export interface Ran {
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

export const run = async (state: MachineState, argv: ReadonlyArray<string>, input = ""): Promise<Ran> =>
  JSON.parse(String(await request(state, "/run", JSON.stringify({ argv, input })))) as Ran

export const up = async (driver: Driver, spec: MachineSpec): Promise<MachineState> => {
  await driver.provision(spec)
  const state = await driver.start(spec.name)
  await reached(state)
  return state
}

export const exited = (driver: Driver, name: string, seconds = 10) =>
  until(async () => {
    const state = await driver.inspect(name)
    return state?.status === "exited" ? state : undefined
  }, seconds)

/** The keeper's launcher, from the machine's own record. */
export const processOf = (driver: Driver, name: string): { readonly pid: number; readonly start: string } =>
  (JSON.parse(readFileSync(`${driver.home}/machines/${name}/machine.json`, "utf8")) as {
    process: { pid: number; start: string }
  }).process
