import { execFile, spawn } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { build, clear, environment, newPlace, type Place } from "../program/support/program.ts"
import { useBerth } from "../support/Berth.ts"
import { describeLong, missingProgram } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { useChromium } from "./chromium.ts"
import { type Credentials, signIn, signUp } from "./person.ts"

interface Kept {
  readonly clientId: string
  readonly accessToken: string
  readonly expiresAt: string
  readonly refreshToken: string
}

describeLong("berth login in a browser", () => {
  const berth = useBerth()
  const visitor = useChromium()
  const programs = temporaryDirectory("programs")
  let place: Place
  let credentials: Credentials

  beforeAll(async () => {
    place = await newPlace()
    await build(place)
    mkdirSync(programs, { recursive: true })
    // The user's browser: the test's own goes where this one was sent.
    const opener = join(programs, "xdg-open")
    writeFileSync(opener, "#!/bin/sh\nprintf %s \"$1\" >\"$OPENED.new\" && mv \"$OPENED.new\" \"$OPENED\"\n")
    chmodSync(opener, 0o755)
  }, 120_000)
  afterAll(() => clear(place))

  const file = () => join(place.folder, ".config/berth/credentials.json")
  const env = (variables: Readonly<Record<string, string>> = {}) => ({
    ...environment(place, { BERTH_URL: berth.url, ...variables }),
    PATH: `${programs}${delimiter}${process.env["PATH"] ?? ""}`
  })
  const cli = (...args: ReadonlyArray<string>) => cliWith("", ...args)
  const cliWith = (input: string, ...args: ReadonlyArray<string>) =>
    new Promise<{ readonly code: unknown; readonly out: string; readonly err: string }>((resolve) => {
      execFile("node", ["dist/berth.js", ...args], { cwd: place.folder, env: env() }, (error, out, err) => {
        resolve({ code: error?.code ?? 0, out, err })
      }).stdin?.end(input)
    })
  const kept = () => (JSON.parse(readFileSync(file(), "utf8")) as Record<string, Kept>)[berth.url]!
  const expire = () => {
    const past = { ...kept(), expiresAt: new Date(0).toISOString() }
    writeFileSync(file(), JSON.stringify({ [berth.url]: past }))
    return past
  }

  /** A command that waits for the browser: where that was sent, and its end. */
  const beginLogin = async () => {
    const opened = join(temporaryDirectory("opened"), "url")
    const child = spawn("node", ["dist/berth.js", "login", "--web"], {
      cwd: place.folder,
      env: env({ DISPLAY: ":7", OPENED: opened }),
      stdio: ["ignore", "pipe", "pipe"]
    })
    let [out, err] = ["", ""]
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
    const ended = new Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>((resolve) =>
      child.on("close", (code) => resolve({ code, out, err }))
    )
    await expect.poll(() => existsSync(opened) || err, { timeout: 60_000 }).toBe(true)
    return { page: readFileSync(opened, "utf8"), ended }
  }

  it("takes a consent there, keeps the tokens to the user alone, and goes on as that user", async () => {
    const { ended, page: url } = await beginLogin()
    const { page } = await visitor()
    credentials = await signUp(page, url)
    const allow = page.getByRole("button", { name: "Allow" })
    await allow.waitFor()
    expect(await page.getByRole("main").innerText()).toContain("Berth command line on ")
    const redirect = new URL(new URL(url).searchParams.get("redirect_uri")!)
    // Neither a forged answer nor one that came by another name ends the wait.
    for (const [name, state] of [["127.0.0.1", "forged"], ["localhost", new URL(url).searchParams.get("state")!]]) {
      const forged = await fetch(`http://${name}:${redirect.port}/callback?code=x&state=${state}`)
        .catch(() => new Response(null, { status: 400 }))
      expect(forged.status).toBe(400)
    }
    await allow.click()
    await page.getByText("You can close this window").waitFor()
    expect(await page.getByRole("heading").innerText()).toBe("You are logged in")
    const { code, err, out } = await ended
    expect([code, out]).toEqual([0, `Logged in to ${berth.url}; the login is kept in ${file()}\n`])
    expect(err).toContain("Waiting until you allow it there")
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(await cli("servers", "--json")).toMatchObject({ code: 0, out: "[]\n" })
    const who = JSON.parse((await cli("whoami", "--json")).out) as unknown
    expect(who).toMatchObject({
      email: credentials.email,
      from: "berth login",
      credential: { type: "oauth", clientId: kept().clientId }
    })
  })

  it("renews expired tokens once for commands that run at the same time", async () => {
    for (let round = 0; round < 2; round++) {
      const before = expire()
      const runs = await Promise.all([cli("servers", "--json"), cli("servers", "--json"), cli("whoami")])
      expect(runs.map(({ code, err }) => [code, err])).toEqual([[0, ""], [0, ""], [0, ""]])
      // Of the next round the server would take a token that was used twice for stolen.
      expect(kept().refreshToken).not.toBe(before.refreshToken)
    }
  })

  it("is refused where the user denies it, and leaves the login of before", async () => {
    const before = kept()
    const { ended, page: url } = await beginLogin()
    const { page } = await visitor()
    await signIn(page, url, credentials)
    await page.getByRole("button", { name: "Deny" }).click()
    await page.getByText("You did not allow it").waitFor()
    const { code, err, out } = await ended
    expect([code, out, err.trimEnd().split("\n").at(-1)])
      .toEqual([3, "", "You did not allow it in the browser: nobody was logged in"])
    expect(kept()).toEqual(before)
  })

  /** The account's connected applications, as a tool lists them to its session. */
  const grants = async () => {
    const body = { email: credentials.email, password: credentials.password }
    const { body: { data: { token } } } = await berth.request<{ data: { token: string } }>("POST", "/v1/auth/login", {
      body
    })
    const listed = await berth.request<{ data: ReadonlyArray<{ clientId: string }> }>("GET", "/v1/auth/grants", {
      token
    })
    return listed.body.data.map(({ clientId }) => clientId)
  }

  it("takes the place of the login of before, also among the connected applications", async () => {
    const before = kept()
    expect(await grants()).toEqual([before.clientId])
    const { ended, page: url } = await beginLogin()
    const { page } = await visitor()
    await signIn(page, url, credentials)
    await page.getByRole("button", { name: "Allow" }).click()
    expect((await ended).code).toBe(0)
    expect(await grants()).toEqual([kept().clientId])
    expect(kept().clientId).not.toBe(before.clientId)
  })

  it("ends with berth logout, here and there", async () => {
    const { accessToken, refreshToken, clientId } = kept()
    const status = async () => (await berth.request("GET", "/v1/servers", { token: accessToken })).status
    expect(await status()).toBe(200)
    expect(await cli("logout")).toMatchObject({ code: 0, out: `Logged out of ${berth.url}\n` })
    await expect.poll(status).toBe(401)
    expect(await grants()).toEqual([])
    const form = { grant_type: "refresh_token", client_id: clientId, refresh_token: refreshToken }
    const refused = await berth.request("POST", "/api/v1/oauth/token", {
      body: String(new URLSearchParams(form)),
      headers: { "content-type": "application/x-www-form-urlencoded" }
    })
    expect([refused.status, refused.body]).toMatchObject([400, { error: "invalid_grant" }])
    expect(await cli("servers")).toMatchObject({ code: 3, err: `Log in first: berth login --url ${berth.url}\n` })
  })

  it("that was revoked tells so when its tokens are renewed, and is forgotten", async () => {
    const { ended, page: url } = await beginLogin()
    const { page } = await visitor()
    await signIn(page, url, credentials)
    await page.getByRole("button", { name: "Allow" }).click()
    expect((await ended).code).toBe(0)
    const { accessToken, clientId } = expire()
    const revoked = await berth.request("POST", "/api/v1/oauth/revoke", {
      body: String(new URLSearchParams({ token: accessToken, client_id: clientId })),
      headers: { "content-type": "application/x-www-form-urlencoded" }
    })
    expect(revoked.status).toBe(200)
    const { code, err } = await cli("servers")
    expect([code, err]).toEqual([3, expect.stringContaining("has ended: it was revoked")])
    expect(readFileSync(file(), "utf8")).toBe("{}")
  })

  it("is not needed with a key on standard input, which is asked of the installation first", async () => {
    const owner = await berth.signUp("enterprise")
    const { key } = await owner.key((await owner.project()).id)
    expect(await cliWith("svc_live_wrong\n", "login", "--with-token")).toMatchObject({
      code: 3,
      err: "The credential is not valid: unknown, expired or revoked\n"
    })
    expect(await cliWith(`${key}\n`, "login", "--with-token"))
      .toMatchObject({ code: 0, out: `Logged in; the token is kept in ${file()}\n` })
    expect((await cli("whoami")).out).toMatch(/^Logged in by +an API key \(live\) of the project /m)
    expect((await cli("login", "--web", "--with-token")).err).toContain("Give one of --web, --with-token")
    expect(await cli("logout")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Forgot the API key") as unknown
    })
    expect((await berth.request("GET", "/v1/servers", { token: key })).status).toBe(200)
  })
}, missingProgram("chromium"))
