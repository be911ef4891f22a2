import { execFile } from "node:child_process"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { build, clear, environment, newPlace, type Place } from "../program/support/program.ts"
import { temporaryDirectory } from "../support/Settings.ts"

let place: Place
/** Where npx keeps its links: a newcomer's is empty. */
const cache = temporaryDirectory("npx")
beforeAll(async () => {
  place = await newPlace()
})
afterAll(() => clear(place))

const npx = (...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: unknown; readonly out: string; readonly err: string }>((resolve) => {
    const env = environment(place, { npm_config_cache: cache, npm_config_offline: "true" })
    const child = execFile("npx", ["berth", ...args], { cwd: place.folder, env }, (error, out, err) => {
      resolve({ code: error?.code ?? 0, out, err })
    })
    child.stdin?.end()
  })

describe("npx berth in a fresh clone", () => {
  it("says what to wait for while there is no build, and works once there is one", async () => {
    const early = await npx("--help")
    expect([early.code, early.out]).toEqual([1, ""])
    expect(early.err).toContain(
      "Berth is not built here yet. Run npm run build, or wait until npm start has built it.\n"
    )
    await build(place)
    expect(await npx("--help")).toMatchObject({ code: 0, out: expect.stringContaining("USAGE") })
    expect(await npx("lgoin")).toMatchObject({ code: 1, err: expect.stringContaining("See berth --help") })
  }, 90_000)
})
