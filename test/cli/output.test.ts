import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { build, clear, environment, newPlace, type Place } from "../program/support/program.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"

let place: Place
beforeAll(async () => {
  place = await newPlace()
  await build(place)
}, 60_000)
afterAll(() => clear(place))

/** The real program, with nobody at its terminal, and with colours wanted as far as they are. */
const berth = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) =>
  new Promise<{ readonly code: unknown; readonly out: string; readonly err: string }>((resolve) => {
    const env = { ...environment(place, variables), NO_COLOR: "" }
    const child = execFile("node", ["dist/berth.js", ...args], { cwd: place.folder, env }, (error, out, err) => {
      resolve({ code: error?.code ?? 0, out, err })
    })
    child.stdin?.end()
  })

describeLong("the command line", () => {
  it.each([
    [["--help"], "berth\n"],
    [["serve", "--help"], "berth serve [--no-demo] [--processes integer] [--role all | gateway]"],
    [["login", "--help"], "berth login [--url text]"],
    [["admin", "plan", "--help"], "berth admin plan [--json] <email>"],
    [["deploy", "--help"], "berth deploy [--url text]"],
    [["publish", "--help"], "berth publish [--url text]"],
    [["env", "--help"], "berth env"]
  ])("%j shows the whole command, without colours or noise in a pipe", async (args, usage) => {
    const { code, out } = await berth(args)
    expect(code).toBe(0)
    expect(out).toContain(`USAGE\n\n${usage}`)
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([])
    expect(out).not.toMatch(/\u001b|A true or false|This setting is optional|--wizard/)
  })

  it.each([
    [["lgoin"], "Did you mean \"login\"?", "See berth --help"],
    [["env", "lst"], "berth env has no command \"lst\". Did you mean \"list\"?", "See berth env --help"],
    [["deploy", "--jsn"], "berth deploy has no option --jsn. Did you mean \"--json\"?", "See berth deploy --help"],
    [["call"], "Missing argument <url>", "See berth call --help"],
    [["serve", "--processe", "5"], "Did you mean \"--processes\"?", "See berth serve --help"],
    [["env", "set"], "Missing argument <variable>", "See berth env set --help"],
    [["--verison"], "Did you mean \"--version\"?", "See berth --help"]
  ])("%j is a mistake told in words, with exit code 1", async (args, what, hint) => {
    const { code, err, out } = await berth(args)
    expect({ code, out }).toEqual({ code: 1, out: "" })
    expect(err).toContain(what)
    expect(err.trimEnd().split("\n").at(-1)).toBe(hint)
    expect(err).not.toMatch(/\u001b|_tag|level=|CommandMismatch/)
  })

  it("a setting that is wrong stops the start with its sentence alone", async () => {
    const { code, err } = await berth(["serve"], { TRUST_PROXY: "many" })
    expect([code, err]).toEqual([1, "TRUST_PROXY must be a number of proxies from 0 to 10, but is \"many\"\n"])
  })
})

describeLong("berth admin", () => {
  it("makes no installation where it finds none", async () => {
    const home = join(temporaryDirectory(), "nowhere")
    const { code, err } = await berth(["admin", "plan", "you@example.com", "pro"], { BERTH_HOME: home })
    expect([code, err]).toEqual([1, expect.stringContaining(`There is no installation in ${home}`)])
  })
})

describeLong("berth login", () => {
  it("asks nobody who is not there, and names what to give", async () => {
    const { code, err } = await berth(["login", "--email", "you@example.com"])
    expect([code, err]).toEqual([1, "There is no terminal to ask in: give --password or set BERTH_PASSWORD\n"])
    expect((await berth(["login"])).err).toContain("--password or BERTH_PASSWORD")
  })

  it("says so when the session can't be kept, before it opens one, and names the setting of a wrong URL", async () => {
    const given = ["login", "--email", "you@example.com", "--password", "x"]
    const { code, err } = await berth(given, { XDG_CONFIG_HOME: "/proc" })
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^XDG_CONFIG_HOME must be a folder that can be written to, .*\n$/)
    ])
    expect((await berth(given, { BERTH_URL: "ftp://x" })).err)
      .toBe("--url, or BERTH_URL, must be an http or https URL, but is \"ftp://x\"\n")
  })

  it("shows all that is wrong with what was sent, and logout forgets the session and ends it", async () => {
    const seen: Array<string> = []
    const issues = [{ path: "email", message: "is no address" }, { path: "password", message: "is too short" }]
    const installation = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`)
      request.resume()
      const [status, body] = request.url === "/v1/auth/signup"
        ? [422, { error: { code: "VALIDATION_ERROR", message: "email is no address", details: { issues } } }] as const
        : [200, { data: { token: "svc_sess_x", expiresAt: "2027-01-01T00:00:00Z" } }] as const
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => installation.listen(0, "127.0.0.1", resolve))
    const BERTH_URL = `http://127.0.0.1:${(installation.address() as AddressInfo).port}`
    const user = ["--email", "you", "--password", "short"]
    try {
      const refused = await berth(["login", "--sign-up", ...user], { BERTH_URL })
      expect([refused.code, refused.err]).toEqual([1, "email: is no address\npassword: is too short\n"])
      expect((await berth(["login", ...user], { BERTH_URL })).code).toBe(0)
      const file = join(place.folder, ".config/berth/credentials.json")
      expect(readFileSync(file, "utf8")).toContain("svc_sess_x")
      expect(await berth(["logout"], { BERTH_URL })).toMatchObject({ code: 0, out: `Logged out of ${BERTH_URL}\n` })
      expect(existsSync(file) && readFileSync(file, "utf8")).not.toContain("svc_sess_x")
      expect(seen.at(-1)).toBe("POST /v1/auth/logout Bearer svc_sess_x")
      expect((await berth(["logout"], { BERTH_URL })).out).toContain("There is no session")
    } finally {
      installation.closeAllConnections()
      installation.close()
    }
  }, 60_000)
})
