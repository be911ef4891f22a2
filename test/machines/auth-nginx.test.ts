import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { get } from "node:https"
import { createConnection } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Berth } from "../support/Berth.ts"
import { freePort } from "../support/http.ts"
import { describeLong, missingProgram } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { type Driver, driverOf, run, specOf, until, up } from "./support.ts"

const missing = missingProgram("nginx") ?? missingProgram("openssl")

/** The server block that docs/operate.md shows, on a port of its own, with a certificate for localhost. */
const nginx = (port: number, platform: number) => {
  const folder = temporaryDirectory("nginx")
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")]
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
  execFileSync("openssl", [
    ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" "),
    ...[...subject, "-keyout", key, "-out", certificate]
  ], { stdio: "ignore" })
  const page = readFileSync(join(import.meta.dirname, "../../docs/operate.md"), "utf8")
  const block = (/^server \{\n +listen 443 ssl;[^]*?\n\}\n/m.exec(page)?.[0] ?? "")
    .replace(
      "listen 443 ssl;",
      `listen 127.0.0.1:${port} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${key};`
    )
    .replace(/server_name .*;/, "server_name localhost;")
    .replace("127.0.0.1:8787", `127.0.0.1:${platform}`)
  expect(block).toContain(`proxy_pass http://127.0.0.1:${platform}`)
  for (const name of ["body", "proxy", "fastcgi", "uwsgi", "scgi"]) mkdirSync(join(folder, name))
  const temporary = ["client_body_temp_path body;", "proxy_temp_path proxy;", "fastcgi_temp_path fastcgi;"]
  const others = ["uwsgi_temp_path uwsgi;", "scgi_temp_path scgi;", "access_log off;"]
  const http = [...temporary, ...others].join("\n").replace(/path (\w+);/g, `path ${folder}/$1;`)
  const settings = `daemon off; pid ${folder}/pid; error_log stderr; events {}\nhttp {\n${http}\n${block}}\n`
  writeFileSync(join(folder, "nginx.conf"), settings)
  return spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "inherit" })
}

describeLong("a machine behind nginx with TLS on the same host", () => {
  const berth = new Berth()
  let driver: Driver
  let server: ReturnType<typeof nginx>
  let url: string
  beforeAll(async () => {
    const port = await freePort()
    url = `https://localhost:${port}`
    await berth.start({ machines: true, variables: { AUTH_URL: url, TRUST_PROXY: "1" } })
    server = nginx(port, Number(new URL(berth.url).port))
    await until(() =>
      new Promise<true | undefined>((resolve) => {
        const socket = createConnection(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(undefined))
        socket.unref()
      })
    )
    driver = driverOf("auto", temporaryDirectory("m"), { AUTH_URL: url, TRUST_PROXY: "1" })
    for (const name of ["one", "two"]) await up(driver, specOf(name))
  }, 120_000)
  afterAll(async () => {
    server.kill()
    await driver.clear()
    await berth.stop()
  })

  /** The status of each request, one after the other over as many connections. */
  const ask = async (machine: string, method: string, path: string, times = 1) => {
    const state = (await driver.inspect(machine)) ?? expect.fail("not listed")
    const script = `(async () => { for (let i = 0; i < ${times}; i++) {
      const r = await fetch(process.argv[1], { method: process.argv[2], headers: { "x-forwarded-for": "203.0.113." + i } })
      await r.text(); console.log(r.status) } })()`
    const argv = ["sh", "-c", "NODE_TLS_REJECT_UNAUTHORIZED=0 NODE_NO_WARNINGS=1 exec node -e \"$0\" \"$@\"", script]
    return (await run(state, [...argv, url + path, method])).stdout.trim().split("\n").map(Number)
  }

  it("reaches the keys and the metadata, and nothing else", async () => {
    expect(await ask("one", "GET", "/api/v1/oauth/jwks")).toEqual([200])
    expect(await ask("one", "GET", "/.well-known/oauth-authorization-server")).toEqual([200])
    for (const path of ["/v1/health", "/api/v1/oauth/authorize?client_id=https://attacker.example", "/s/any/mcp"]) {
      expect(await ask("one", "GET", path), path).toEqual([403])
    }
    expect(await ask("one", "POST", "/v1/auth/signup")).toEqual([403])
  }, 60_000)

  it("is counted by itself, whatever address it claims", async () => {
    berth.advance(60_000)
    expect((await ask("one", "GET", "/v1/nothing", 103)).filter((status) => status === 429)).toHaveLength(3)
    expect(await ask("two", "GET", "/v1/nothing")).toEqual([403])
  })

  it("is told of in the health report as what a machine reaches", async () => {
    const { body } = await berth.request<
      { compute: { enforces: ReadonlyArray<string>; lacks: ReadonlyArray<string> } }
    >(
      "GET",
      "/v1/health"
    )
    const { enforces, lacks } = body.compute
    expect(enforces).toContainEqual(expect.stringMatching(/AUTH_URL: introspection, signing keys, metadata, its own/))
    expect(lacks).not.toContainEqual(expect.stringContaining("AUTH_URL"))
  })

  it("is not whom somebody outside can pass for", async () => {
    const claim = { "x-forwarded-for": "127.66.1.2" }
    const status = new Promise((resolve, reject) => {
      get(
        `${url}/v1/health`,
        { headers: claim, rejectUnauthorized: false },
        (answer) => resolve(answer.resume().statusCode)
      )
        .on("error", reject)
    })
    expect(await status).toBe(200)
  })
}, missing)
