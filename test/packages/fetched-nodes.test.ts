import { CurrentSettings } from "#src/config/Settings.ts"
import { makeFetchedNodes } from "#src/packages/fetched-nodes.ts"
import { hostNode, type NodeChoice } from "#src/packages/machine-node.ts"
import { GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { Effect, Layer } from "effect"
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { describeWhen } from "../support/needs.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"
import { type NpmRegistry, startNpmRegistry } from "./support/npm-registry.ts"

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"
const carrier = `node-linux-${process.arch}`
/** Two that this host does not have: its own is not fetched. */
const [older, newer] = ["20", "22", "24"].filter((major) => !hostNode.version.startsWith(`${major}.`)).slice(-2) as [
  NodeChoice,
  NodeChoice
]
/** A small program that is linked as Node is. */
const program = realpathSync("/bin/true")

describeWhen(missing, "the Node of a package's machine", () => {
  let registry: NpmRegistry
  const folder = temporaryDirectory("nodes")
  const publish = (version: string) =>
    registry.publish(carrier, version, {}, {}, [{
      name: "package/bin/node",
      content: readFileSync(program),
      mode: 0o755
    }])
  const nodes = (setting: string = newer) =>
    Effect.gen(function*() {
      return makeFetchedNodes({ folder, http: yield* GuardedHttp, settings: yield* CurrentSettings })
    }).pipe(
      Effect.provide(
        GuardedHttp.Default.pipe(Layer.provideMerge(settingsTest({
          NPM_REGISTRY: registry.url,
          ALLOWED_PRIVATE_HOSTS: registry.host,
          PACKAGE_NODE: setting
        })))
      ),
      Effect.runSync
    )
  const said: Array<string> = []
  const say = (line: string) => Effect.sync(() => void said.push(line))

  beforeAll(async () => {
    registry = await startNpmRegistry()
  })
  afterAll(() => registry.close())

  it("is the host's where nothing else can be fetched, and a deployment that names it is told", async () => {
    const { choose } = nodes()
    expect(await Effect.runPromise(choose(null, say))).toEqual(hostNode)
    expect(said).toEqual([
      `looking for the newest Node ${newer}, which its machine gets`,
      expect.stringMatching(`^Node ${newer} can't be fetched, so its machine has this host's Node .*no pack`)
    ])
    const failed = await Effect.runPromise(Effect.flip(choose(newer, say)))
    expect(failed.message).toMatch(
      new RegExp(`^Node ${newer} can't be fetched: the registry \\S+ has no package node-linux-`)
    )
    // Another look would cost each deployment seconds.
    expect(registry.seen.length).toBe(1)
  }, 60_000)

  it("is the newest of what was asked for, fetched once and kept", async () => {
    for (const version of [`${older}.9.0`, `${older}.10.1`, `${newer}.3.0`]) await publish(version)
    const { choose, exactly } = nodes()
    const [first, second] = await Effect.runPromise(
      Effect.all([choose(older, say), choose(older, say)], { concurrency: 2 })
    )
    expect(first).toMatchObject({ version: `${older}.10.1`, binary: join(folder, "node", `${older}.10.1`) })
    expect(second).toEqual(first)
    expect(readFileSync(first.binary).equals(readFileSync(program))).toBe(true)
    expect(registry.seen.filter((path) => path.endsWith(".tgz"))).toHaveLength(1)
    expect(await Effect.runPromise(choose(null, say))).toMatchObject({ version: `${newer}.3.0` })
    expect(await Effect.runPromise(exactly(`${older}.9.0`))).toMatchObject({ version: `${older}.9.0` })
    expect(readdirSync(join(folder, "node")).sort()).toEqual([`${older}.10.1`, `${older}.9.0`, `${newer}.3.0`])
  }, 60_000)

  it("stays what it was while the registry is away, and only the newest of each is kept after a start", async () => {
    registry.unpublish(carrier)
    const again = nodes()
    expect(await Effect.runPromise(again.choose(older, say))).toMatchObject({ version: `${older}.10.1` })
    writeFileSync(join(folder, "node", "notes"), "")
    await again.sweep()
    expect(readdirSync(join(folder, "node")).sort()).toEqual([`${older}.10.1`, `${newer}.3.0`, "notes"])
    expect(await Effect.runPromise(nodes("host").choose(null, say))).toEqual(hostNode)
    expect(existsSync(join(folder, "node", `${older}.9.0`))).toBe(false)
  }, 60_000)
})
