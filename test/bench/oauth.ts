/**
 * How many tokens the token endpoint gives a second when the program has one core to itself, by code and by refresh
 * token, and where the time goes: HTTP alone, SQL, signing, hashing. Database and load share the other cores.
 *
 *   npm run bench oauth [seconds a round]
 */
import { clientLayer } from "#sql/Client.ts"
import { embedded } from "#sql/Embedded.ts"
import { verifierMatches } from "#src/oauth/checks/pkce.ts"
import { newRefreshToken, newSalt, successorOf } from "#src/oauth/refresh-token.ts"
import { TokensRepo } from "#src/oauth/TokensRepo.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Layer, Logger, LogLevel, Redacted } from "effect"
import { generateKeyPair, SignJWT } from "jose"
import { execFileSync, spawnSync } from "node:child_process"
import { createHash, randomBytes, randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { startProgram } from "./support/program.ts"

const connections = 32
const rounds = 3
const seconds = Number(process.argv[2] ?? "3")
const redirectUri = "https://client.example/callback"
const verifier = randomBytes(32).toString("base64url")
const challenge = createHash("sha256").update(verifier).digest("base64url")
const clientId = "client_01ARZ3NDEKTSV4RRFFQ69G5FAV"
const scopes = ["servers:read", "offline_access"]

const hasTaskset = spawnSync("taskset", ["--version"]).status === 0
const pinned = hasTaskset && availableParallelism() > 1
const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!

/** The program, alone on the first core; this process, which sends the requests, and the database on the others. */
const startPinned = (home: string, databaseUrl: string) =>
  startProgram(home, databaseUrl, pinned ? ["taskset", "-c", "0"] : [])

const agent = new Agent({ keepAlive: true, maxSockets: connections })
let address = 0

const post = (port: number, form: Readonly<Record<string, string>>) =>
  new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
    const body = String(new URLSearchParams(form))
    address++
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "content-length": body.length,
      "x-forwarded-for": `10.${address >> 16 & 255}.${address >> 8 & 255}.${address & 255}`
    }
    request(
      { agent, host: "127.0.0.1", port, method: "POST", path: "/api/v1/oauth/token", headers },
      (answer) => void text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }))
    ).on("error", reject).end(body)
  })

/** Microseconds of processor time that a process has used: /proc counts in hundredths of a second. */
const processorTime = (pid: number) => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const [user, system] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13).map(Number) as [number, number]
  return (user + system) * 10_000
}

/** Requests a second and the program's processor time each, the medians of some rounds. */
const measure = async (pid: number, one: (connection: number) => Promise<void>) => {
  const results: Array<{ readonly perSecond: number; readonly cpu: number }> = []
  for (let round = 0; round <= rounds; round++) {
    let done = 0
    const before = processorTime(pid)
    const start = performance.now()
    const end = start + (round === 0 ? 2 * seconds : seconds) * 1000
    await Promise.all(Array.from({ length: connections }, async (_, connection) => {
      while (performance.now() < end) {
        await one(connection)
        done++
      }
    }))
    const elapsed = performance.now() - start
    // The first round warms up: what runs a few thousand times only is not compiled yet.
    if (round > 0) results.push({ perSecond: done / elapsed * 1000, cpu: (processorTime(pid) - before) / done })
  }
  return { perSecond: median(results.map((row) => row.perSecond)), cpu: median(results.map((row) => row.cpu)) }
}

/** Microseconds that something takes, one after the other. */
const each = async (times: number, run: () => unknown) => {
  for (let i = 0; i < times / 10; i++) await run()
  const start = performance.now()
  for (let i = 0; i < times; i++) await run()
  return (performance.now() - start) / times * 1000
}

const seed = (resource: string) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const userId = randomUUID()
    yield* sql`INSERT INTO users ${sql.insert({ id: userId, email: `${userId}@example.com`, passwordHash: "" })}`
    yield* sql`INSERT INTO oauth_clients (client_id, kind, client_name, redirect_uris, document)
      VALUES (${clientId}, 'dynamic', 'bench', ${[redirectUri]}, '{}')`
    yield* sql`INSERT INTO oauth_grants (id, user_id, client_id, resource, scopes, redirect_uris_hash)
      VALUES ('gra_bench', ${userId}, ${clientId}, ${resource}, ${scopes}, '')`
  })

/** So many codes that nobody used, each of an authorization of its own. */
const newCodes = (resource: string, count: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const codes = Array.from({ length: count }, () => randomBytes(32).toString("base64url"))
    const families = codes.map(() => `fam_${randomUUID()}`)
    const hashes = codes.map((code) => digestOf(code))
    yield* sql`INSERT INTO token_families (id, grant_id) SELECT unnest(${families}::text[]), 'gra_bench'`
    yield* sql`INSERT INTO authorization_codes
        (code_hash, family_id, client_id, redirect_uri, resource, scopes, code_challenge, expires_at)
      SELECT hash, family, ${clientId}, ${redirectUri}, ${resource}, ${scopes}::text[], ${challenge},
        now() + interval '1 hour' FROM unnest(${hashes}::bytea[], ${families}::text[]) AS fresh (hash, family)`
    return codes
  })

/** What SQL costs by itself: the two statements of an exchange and of a refresh, from a process that does nothing else. */
const statements = (codes: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const repo = yield* TokensRepo
    const now = new Date()
    const expiresAt = new Date(Date.now() + 60_000)
    const tokens: Array<string> = []
    const exchange = (code: string) =>
      Effect.gen(function*() {
        const token = newRefreshToken()
        yield* repo.code(digestOf(code))
        yield* repo.redeem({ codeHash: digestOf(code), now, refresh: { tokenHash: digestOf(token), expiresAt } })
        tokens.push(token)
      })
    const refresh = (token: string) =>
      Effect.gen(function*() {
        const salt = newSalt()
        yield* repo.refresh(digestOf(token))
        const successorHash = digestOf(successorOf(token, salt))
        yield* repo.rotate({ tokenHash: digestOf(token), successorHash, salt, now, expiresAt })
      })
    const timed = (all: Effect.Effect<unknown>, count: number) =>
      Effect.gen(function*() {
        const before = process.cpuUsage()
        const start = performance.now()
        yield* all
        const { system, user } = process.cpuUsage(before)
        return { wall: (performance.now() - start) / count * 1000, cpu: (system + user) / count }
      })
    const half = codes.length >> 1
    yield* Effect.forEach(codes.slice(0, half), exchange, { concurrency: connections })
    const later = codes.slice(half)
    const exchanged = yield* timed(Effect.forEach(later, exchange, { concurrency: connections }), later.length)
    const refreshed = yield* timed(Effect.forEach(tokens, refresh, { concurrency: connections }), tokens.length)
    return { exchanged, refreshed }
  })

const share = (part: number, whole: number) => `${(part / whole * 100).toFixed(0)} %`
const micros = (value: number) => `${value.toFixed(0)} µs`

const main = Effect.gen(function*() {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: ["ignore", "ignore", "inherit"] })
  if (pinned) {
    execFileSync("taskset", ["-acp", `1-${availableParallelism() - 1}`, String(process.pid)], { stdio: "ignore" })
  } else console.log("taskset or a second core is missing: the program shares its core")
  const home = mkdtempSync(join(tmpdir(), "berth-bench-"))
  const { database, host, port: dbPort, user } = yield* embedded(home, { exclusive: false })
  const databaseUrl = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${dbPort}`
  const program = yield* Effect.acquireRelease(
    Effect.promise(() => startPinned(home, databaseUrl)),
    ({ child }) =>
      Effect.promise(async () => {
        const ended = once(child, "exit")
        child.kill("SIGTERM")
        await ended
      })
  )
  const services = TokensRepo.Default.pipe(Layer.provideMerge(clientLayer(Redacted.make(databaseUrl), 10)))
  const resource = `${program.url}/mcp`
  yield* Effect.gen(function*() {
    yield* seed(resource)
    const codes = yield* newCodes(resource, 60_000)
    const { child: { pid = 0 }, port } = program

    const refused = yield* Effect.promise(() =>
      measure(pid, async () => {
        const { status } = await post(port, { grant_type: "none" })
        if (status !== 400) throw new Error(`expected 400, got ${status}`)
      })
    )
    const granted = async (form: Readonly<Record<string, string>>) => {
      const { body, status } = await post(port, { client_id: clientId, resource, ...form })
      if (status !== 200) throw new Error(body)
      return (JSON.parse(body) as { readonly refresh_token: string }).refresh_token
    }
    const held: Array<string> = []
    const exchanged = yield* Effect.promise(() =>
      measure(pid, async (connection) => {
        const code = codes.pop()
        if (code === undefined) throw new Error("too few codes for such a fast machine")
        held[connection] = await granted({
          grant_type: "authorization_code",
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier
        })
      })
    )
    const refreshed = yield* Effect.promise(() =>
      measure(pid, async (connection) => {
        held[connection] = await granted({ grant_type: "refresh_token", refresh_token: held[connection]! })
      })
    )
    const sql = yield* statements(yield* newCodes(resource, 6_000))

    const { privateKey } = yield* Effect.promise(() => generateKeyPair("ES256"))
    const signing = yield* Effect.promise(() =>
      each(3000, () =>
        new SignJWT({ client_id: clientId, scope: scopes.join(" "), fam: "fam" })
          .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: "bench" }).setIssuer(program.url).setSubject("user")
          .setAudience(resource).setIssuedAt().setExpirationTime("15 minutes").setJti(randomUUID()).sign(privateKey))
    )
    const token = newRefreshToken()
    const hashing = yield* Effect.promise(() =>
      each(20_000, () => {
        digestOf(token)
        verifierMatches(verifier, challenge)
        digestOf(newRefreshToken())
      })
    )
    const deriving = yield* Effect.promise(() =>
      each(20_000, () => {
        digestOf(token)
        digestOf(successorOf(token, newSalt()))
      })
    )

    const whole = (name: string, { cpu, perSecond }: typeof exchanged) =>
      console.log(
        `${name}: ${perSecond.toFixed(0)} a second, ${micros(cpu)} of the core each ` +
          `(${(1e6 / cpu).toFixed(0)} a second on a core that nobody else uses)`
      )
    whole("refused before any work (HTTP, form, rate limit)", refused)
    const table = [["code", exchanged, sql.exchanged, hashing], [
      "refresh",
      refreshed,
      sql.refreshed,
      deriving
    ]] as const
    for (const [name, total, statements, hashes] of table) {
      whole(`tokens by ${name}`, total)
      const parts: ReadonlyArray<readonly [string, number]> = [
        ["HTTP", refused.cpu],
        ["SQL, 2 statements", statements.cpu],
        ["signing", signing],
        ["hashing", hashes]
      ]
      const rest = total.cpu - parts.reduce((sum, [, cpu]) => sum + cpu, 0)
      for (const [part, cpu] of [...parts, ["the rest: rules, services", rest] as const]) {
        console.log(`  ${part}: ${micros(cpu)}, ${share(cpu, total.cpu)}`)
      }
    }
    console.log(
      `the two statements alone, ${connections} at once: ${(1e6 / sql.exchanged.wall).toFixed(0)} a second by code, ` +
        `${(1e6 / sql.refreshed.wall).toFixed(0)} by refresh token`
    )
  }).pipe(Effect.provide(services))
  agent.destroy()
})

await Effect.runPromise(Effect.scoped(main).pipe(Logger.withMinimumLogLevel(LogLevel.Warning)))
