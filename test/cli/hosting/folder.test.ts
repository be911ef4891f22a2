import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { missingForApps } from "../../deployments/support/app-image.ts"
import { stdioServer } from "../../packages/support/stdio-server.ts"
import { stdioShimBundle } from "../../ready-server/bundle.ts"
import { type Account, type Server } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { describeWhen } from "../../support/needs.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { berthCli } from "../mcp/run.ts"

/** These tests build on each other: one folder, from its first deployment to what is wrong with it. */
describeWhen(missingForApps, "berth deploy with a folder", () => {
  const berth = useBerth({ machines: true, variables: { MCP_DOMAIN: "mcp.example" } })
  const home = temporaryDirectory("cli")
  const project = join(temporaryDirectory("project"), "teller")
  let owner: Account

  const run = (...args: ReadonlyArray<string>) =>
    berthCli(args, { XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, BERTH_URL: berth.url, BERTH_TOKEN: owner.token })
  const write = (name: string, text: string) => writeFileSync(join(project, name), text)
  const manifest = (more: object) => write("package.json", JSON.stringify({ name: "@me/teller", ...more }))

  beforeAll(async () => {
    await stdioShimBundle()
    owner = await berth.signUp("pro")
    mkdirSync(join(project, "node_modules", "left-out"), { recursive: true })
  }, 60_000)

  it("says what it looks for where there is nothing of it", async () => {
    const { code, err } = await run("deploy", project)
    expect(code).toBe(1)
    expect(err).toMatch(/has neither a Dockerfile nor a package\.json/)
    expect(await run("deploy", join(project, "none"))).toMatchObject({ code: 2 })
    const python = temporaryDirectory("python")
    for (const name of ["requirements.txt", "server.py"]) writeFileSync(join(python, name), "")
    expect((await run("deploy", python)).err).toMatch(
      /berth deploy pypi:NAME.*\n  FROM python[^]*-r requirements\.txt\n[^]*CMD \["python", "server\.py"\]/
    )
  })

  it("says how a project becomes one file whose lock is another installer's, in the folder or above it", async () => {
    const workspace = temporaryDirectory("workspace")
    const member = join(workspace, "member")
    mkdirSync(member)
    writeFileSync(join(workspace, "pnpm-lock.yaml"), "")
    const of = { name: "@me/member", bin: "server.mjs", dependencies: { "@me/words": "workspace:*" } }
    writeFileSync(join(member, "package.json"), JSON.stringify(of))
    writeFileSync(join(member, "server.mjs"), "import { createRequire } from \"node:module\"\n")
    const { code, err } = await run("deploy", member)
    expect([code, err]).toEqual([1, expect.stringContaining("(pnpm-lock.yaml is not read)")])
    expect(err).toContain("npx esbuild server.mjs --bundle")
    expect(err).not.toContain("npm install")
    rmSync(join(workspace, "pnpm-lock.yaml"))
    expect((await run("deploy", member)).err).toContain("npx esbuild server.mjs --bundle")
  })

  it(
    "makes a project of Node that speaks stdio into a server, and sends nothing that is secret or ignored",
    async () => {
      manifest({ bin: "server.cjs" })
      write(
        "server.cjs",
        `// StdioServerTransport\n${stdioServer(`require("node:fs").readdirSync("/app").sort().join()`)}`
          .replace(/^(.*)\n#!.*\n/, "#!/usr/bin/env node\n$1\n")
      )
      write(".env", "SECRET=1")
      write(".npmrc", "//registry/:_authToken=secret")
      write("notes.log", "private")
      write(".gitignore", "*.log\n")
      const { code, err, out } = await run("deploy", project)
      expect([code, err]).toEqual([
        0,
        expect.stringContaining("speaks stdio: server.cjs uses MCP's transport over stdio")
      ])
      expect(err).toContain("the project and the server are named teller")
      expect(err).toMatch(/Pushed: \d+\.\d MB sent/)
      expect(out).toMatch(/^Deployment +running$/m)
      const { body: { data: [server] } } = await owner.get<{ data: ReadonlyArray<Server> }>("/v1/servers")
      const { body: { data: { accessToken } } } = await owner.post<{ data: { accessToken: string } }>(
        `/v1/servers/${server!.id}/test-token`,
        {}
      )
      const url = `${berth.url}/s/${server!.slug}/mcp`
      const called = await berthCli(["call", url, "who", "--token", accessToken], { XDG_CONFIG_HOME: home })
      expect(called.out).toContain(".gitignore,package.json,server.cjs")
      expect(called.out).not.toContain("notes.log")
    },
    120_000
  )

  it("sends nothing when nothing has changed, and little when a file has", async () => {
    expect((await run("deploy", project)).err).toContain("nothing has changed since it was pushed")
    // The installation calls itself otherwise, and its servers by a domain of their own.
    const elsewhere = await run("deploy", project, "--url", berth.url.replace("127.0.0.1", "localhost"))
    expect(elsewhere).toMatchObject({ code: 0, err: expect.stringContaining("nothing has changed") as string })
    write("more.cjs", "// more\n")
    expect((await run("deploy", project)).err).toMatch(/Pushed: 0\.0 MB sent, \d\d\.\d MB were there/)
  }, 120_000)

  it("serves one that listens by itself, as its start script says", async () => {
    rmSync(join(project, "server.cjs"))
    mkdirSync(join(project, "dist"), { recursive: true })
    write(".gitignore", "dist\n")
    write(
      "dist/main.cjs",
      "require(\"node:http\").createServer((_, to) => to.setHeader(\"content-type\", \"application/json\").end(\"{}\"))" +
        ".listen(process.env.PORT)\n"
    )
    manifest({ scripts: { start: "node --no-warnings dist/main.cjs --quiet" } })
    const { code, err } = await run("deploy", project)
    expect([code, err]).toEqual([0, expect.stringContaining("speaks http: dist/main.cjs listens")])
    expect(err).toContain("Taken although it is ignored, as the program is there: dist")
  }, 120_000)

  it.each([
    [{ scripts: { start: "tsc && node dist/main.cjs" } }, /has Node and no shell/],
    [{ bin: "gone.js", scripts: { build: "tsc" } }, /gone\.js, .* is not there\. Build it first: npm run build/],
    [{}, /neither a start script nor a bin/],
    [{ bin: { a: "a.js", b: "b.js" } }, /several programs \(a, b\)/],
    [{ bin: "../outside.js" }, /outside of the folder/],
    [{ bin: "link" }, /\(link\) is behind a link \(link\), and links are left out/],
    [{ scripts: { start: "node away/hosts" } }, /\(away\/hosts\) is behind a link \(away\)/],
    [{ bin: "dist/main.cjs", dependencies: { zod: "4" } }, /no package-lock\.json.*npm install --package-lock-only/s]
  ])("says what is wrong with package.json: %j", async (more, said) => {
    if (!existsSync(join(project, "away"))) {
      symlinkSync("/etc/passwd", join(project, "link"))
      symlinkSync("/etc", join(project, "away"))
    }
    manifest(more)
    expect(await run("deploy", project)).toMatchObject({ code: 1, err: expect.stringMatching(said) as string })
  })
})
