import { execFile } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { validate } from "skills-ref"
import { beforeAll, describe, expect, it } from "vitest"
import { findPeers } from "../clients/support/peers.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, newBusiness } from "../support/business.ts"
import { describeWhen } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"

const berth = useBerth()
let owner: Account
let shop: Business

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  const projectId = (await owner.project()).id
  const listed = async (fields: Readonly<Record<string, unknown>>) => {
    const business = await newBusiness(owner, { projectId, templateType: "restaurant", ...fields })
    await owner.patch(`/v1/directory/${business.listingId}`, { visible: true })
    return business
  }
  shop = await listed({ name: "Copper Ladle", description: "Soups --- and: stews\n---\nhub:x: y" })
  await listed({ name: "🍜 ラーメン \"quoted\": [*a]", description: "\u202e<!-- --> `rm -rf /` ".repeat(90) })
})

/** Whatever it asks of another machine fails. */
const offline = join(import.meta.dirname, "../support/offline.mjs")

/** The `skills` command line, in a home and folder of its own. */
const skillsOf = (node: string, cli: string) => async (...args: ReadonlyArray<string>) => {
  const home = temporaryDirectory("skills")
  const folder = join(home, "work")
  mkdirSync(folder)
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, CI: "1", DO_NOT_TRACK: "1", DISABLE_TELEMETRY: "1" }
  const { stdout } = await promisify(execFile)(node, ["--import", offline, cli, ...args], {
    cwd: folder,
    env,
    timeout: 60_000
  })
  const installed = join(folder, ".claude/skills")
  return { out: stdout, installed, names: () => readdirSync(installed).sort() }
}

const own = readdirSync("skills")

const installs = (node: string, cli: string) => {
  const skills = skillsOf(node, cli)
  const install = ["--yes", "--agent", "claude-code", "--copy"]

  it("installs a listing from its own address", async () => {
    const { installed, names } = await skills("add", `${berth.url}/l/${shop.slug}`, ...install)
    expect(names()).toEqual([shop.slug])
    const file = readFileSync(join(installed, shop.slug, "SKILL.md"), "utf8")
    expect(file).toBe((await berth.request("GET", `/.well-known/skills/${shop.slug}/SKILL.md`)).text)
    expect(await validate(join(installed, shop.slug))).toEqual([])
  }, 60_000)

  it("finds the platform's skills and the listings at the root, and installs them all", async () => {
    const { out } = await skills("add", berth.url, "--list")
    for (const name of [...own, shop.slug]) expect(out).toContain(name)
    const { installed, names } = await skills("add", berth.url, ...install, "--skill", "*")
    expect(names()).toEqual(expect.arrayContaining([...own, shop.slug]))
    expect(names().length).toBe(own.length + 2)
    for (const name of names()) expect(await validate(join(installed, name)), name).toEqual([])
  }, 60_000)
}

const packages = join(import.meta.dirname, "../../node_modules")

describe("the skills command line, which reads version 0.2.0 of the discovery", () => {
  installs(process.execPath, join(packages, "skills/bin/cli.mjs"))
})

describe("an older one, which reads version 0.1.0 alone", () => {
  installs(process.execPath, join(packages, "skills-of-spring/bin/cli.mjs"))
})

const found = await findPeers()
describeWhen(typeof found === "string" ? found : undefined, "the newest one, on a newer Node", () => {
  if (typeof found !== "string") installs(found.node, found.script("skills/bin/cli.mjs"))
})
