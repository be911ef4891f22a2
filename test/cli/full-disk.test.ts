import { execFileSync } from "node:child_process"
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeWhen } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { berthCli } from "./mcp/run.ts"

const missing = process.getuid?.() === 0 ? undefined : "only root can mount a small disk"

describeWhen(missing, "a command whose home is on a full disk", () => {
  const berth = useBerth()
  const home = temporaryDirectory("full")
  const project = join(temporaryDirectory("project"), "hello")
  const kept = join(home, ".config", "berth", "credentials.json")
  let owner: Account

  const run = (...args: ReadonlyArray<string>) =>
    berthCli(args, {
      XDG_CONFIG_HOME: join(home, ".config"),
      XDG_CACHE_HOME: join(home, ".cache"),
      BERTH_URL: berth.url
    })

  beforeAll(async () => {
    owner = await berth.signUp()
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=96k", "tmpfs", home])
    mkdirSync(join(home, ".config", "berth"), { recursive: true })
    const origin = new URL(berth.url).origin
    writeFileSync(kept, JSON.stringify({ [origin]: owner.token, "http://other.example": "svc_key_other" }))
    const fill = openSync(join(home, "fill"), "w")
    try {
      for (;;) writeSync(fill, Buffer.alloc(4096))
    } catch {
      closeSync(fill)
    }
    mkdirSync(project)
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "hello", scripts: { start: "node app.cjs" } }))
    writeFileSync(join(project, "app.cjs"), "require(\"node:http\").createServer().listen(process.env.PORT)\n")
  })
  afterAll(() => {
    execFileSync("umount", ["-l", home])
    rmSync(project, { recursive: true })
  })

  it("deploy of a folder says where to make room, and creates nothing", async () => {
    expect(await run("deploy", project)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(
        `The disk is full: make room in ${join(home, ".cache", "berth")} (XDG_CACHE_HOME)`
      ) as string
    })
    expect((await owner.get<{ meta: { total: number } }>("/v1/servers")).body.meta.total).toBe(0)
  }, 30_000)

  it("logout ends the session here and there, and keeps the other logins", async () => {
    expect(await run("logout")).toMatchObject({ code: 0, out: `Logged out of ${berth.url}` })
    expect((await owner.get("/v1/servers")).status).toBe(401)
    expect(JSON.parse(readFileSync(kept, "utf8"))).toEqual({ "http://other.example": "svc_key_other" })
  })
})
