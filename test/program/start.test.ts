import { execFile } from "node:child_process"
import { cpSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { describeWhen, itLong } from "../support/needs.ts"
import { s3Variables } from "../support/s3.ts"
import { invitation, owner } from "./support/owner.ts"
import { ask } from "./support/probe.ts"
import {
  anotherHome,
  clear,
  environment,
  leaked,
  newPlace,
  type Place,
  type Program,
  run,
  serve,
  sweep
} from "./support/program.ts"
import { nothing, traces } from "./support/traces.ts"

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"

/** A command line as a user types it in the folder of the checkout. */
const shell = (place: Place, line: string) =>
  new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((resolve) => {
    execFile("sh", ["-c", line], { cwd: place.folder, env: environment(place) }, (error, out, err) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : 1, out, err })
    })
  })

const menu = () => {
  const path = join(import.meta.dirname, "../../examples/restaurant/ready-config.json")
  const { catalog } = JSON.parse(readFileSync(path, "utf8")) as {
    readonly catalog: { readonly items: ReadonlyArray<{ readonly name: string }> }
  }
  return catalog.items.map(({ name }) => name)
}

const pathOf = (url: string) => new URL(url).pathname
/** The same call without its token; npx, which is slow, has been tried by then. */
const without = (line: string) => line.replace(/^npx berth/, "node dist/berth.js").replace(/ --token \S+/, "")

describeWhen(missing, "npm start in an empty home", () => {
  let place: Place
  let program: Program
  let first: ReturnType<typeof invitation>

  beforeAll(async () => {
    place = await newPlace()
    program = run(place, ["npm", "start"])
    await program.printed(/npx berth call .*\n/)
    first = invitation(program.output())
  }, 120_000)
  afterAll(() => {
    sweep(place)
    clear(place)
  })

  it("tells each stage on a line, in order, and then an address that ends in /mcp and a whole token", () => {
    const steps = [
      "opening the account",
      "Finding the ready server's image",
      "Importing menu.csv",
      "Made Copper Ladle with 15 items",
      "step 3 of 10",
      "step 6 of 10",
      "step 9 of 10",
      "Showing the listing",
      "MCP URL"
    ]
    const places = steps.map((step) => program.output().split("\n").findIndex((line) => line.includes(step)))
    expect(places.every((at) => at >= 0), program.output()).toBe(true)
    expect(new Set(places).size).toBe(steps.length)
    expect([...places].sort((a, b) => a - b)).toEqual(places)
    expect(first.url).toBe(`${program.url}/s/copper-ladle/mcp`)
    expect(first.token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}$/)
    expect(first.line).toContain(`${first.url} browse_catalog --token ${first.token}`)
  })

  it("says one line while it builds, and prints the token once", () => {
    expect(program.output()).toMatch(/^Building Berth, which takes about a minute\n\d\d:\d\d:\d\d /m)
    expect(program.output().split(first.token)).toHaveLength(2)
  })

  it("has one machine, and its line lists the whole menu when it is run as printed", async () => {
    expect(traces(place.home).machines).toHaveLength(1)
    const { code, err, out } = await shell(place, first.line)
    expect(code, err).toBe(0)
    for (const name of menu()) expect(out).toContain(name)
  }, 90_000)

  it("hands on nothing that its launcher left open: not to the database, not to a machine", () => {
    const { processes } = traces(place.home)
    // In the order of their numbers, which begin anew when they have run out.
    const commands = processes.map(({ command }) => command).join("\n")
    for (const program of [/postgres/, /keeper\.cjs/]) expect(commands).toMatch(program)
    const held = processes.filter(({ pid }) => existsSync(`/proc/${pid}/fd/${leaked}`))
    expect(held.map(({ command }) => command)).toEqual([])
  })

  itLong("refuses the call without a token, and with the token of another server, and says why", async () => {
    const { newServer, testToken } = await owner(program)
    const other = await testToken((await newServer("Other")).id)
    const refusals = await Promise.all([
      shell(place, without(first.line)),
      shell(place, `${without(first.line)} --token ${other}`)
    ])
    expect(refusals.map(({ code }) => code)).toEqual([3, 3])
    expect(refusals[0]?.err).toContain("asks for a token")
    expect(refusals[1]?.err).toContain("did not accept the token")
    expect(refusals.map(({ out }) => out)).toEqual(["", ""])
  }, 90_000)

  it("ends with code 0 when npm is told to stop, and leaves no process, socket or mount", async () => {
    expect(await program.end("SIGTERM")).toEqual({ code: 0, signal: null })
    expect(traces(place.home)).toEqual(nothing)
  }, 90_000)

  itLong(
    "started again serves the same deployment, deploys nothing, and prints a new token beside which the old works",
    async () => {
      // Where the test before has run, it has ended.
      await program.end("SIGTERM")
      program = serve(place)
      await program.printed(/npx berth call .*\n/)
      expect(program.output()).not.toMatch(/deploying|publishing/)
      const again = invitation(program.output())
      const base = `http://127.0.0.1:${place.port}`
      for (const token of [again.token, first.token]) {
        expect(await ask(base, pathOf(first.url), token)).toMatchObject({ status: 200, name: "Copper Ladle" })
      }
      expect(again.url).toBe(first.url)
      expect(again.token).not.toBe(first.token)
      const { deployments, server } = await owner(program)
      const [only, ...others] = await deployments()
      expect(others).toEqual([])
      expect(only).toMatchObject({ status: "running", active: true })
      expect(traces(place.home).machines).toEqual([only?.id])
      expect(await server()).toMatchObject({ status: "running" })
    },
    120_000
  )

  itLong("ends with code 0 at Ctrl-C in a terminal", async () => {
    expect(await program.end("SIGINT")).toEqual({ code: 0, signal: null })
    expect(traces(place.home)).toEqual(nothing)
  }, 90_000)

  itLong("a first start that was killed half-way is taken up by the next", async () => {
    const cut = await anotherHome(place)
    // Made by the first home; nothing has changed since.
    cpSync(join(place.home, "ready-image"), join(cut.home, "ready-image"), { recursive: true })
    try {
      const killed = serve(cut)
      await killed.printed(/publishing menu.csv, step 5/)
      await killed.end("SIGKILL")
      const next = serve(cut)
      await next.printed(/npx berth call .*\n/)
      const { token, url } = invitation(next.output())
      const { base, deployments } = await owner(next)
      expect(await ask(base, pathOf(url), token)).toMatchObject({ status: 200 })
      expect(await deployments()).toMatchObject([{ status: "running", active: true }])
      expect(traces(cut.home).machines).toHaveLength(1)
      expect(await next.end("SIGTERM")).toEqual({ code: 0, signal: null })
      expect(traces(cut.home)).toEqual(nothing)
    } finally {
      sweep(cut)
    }
  }, 90_000)

  itLong("with --no-demo nothing is made: no account, no machine; a bucket that is away is told", async () => {
    const bare = await anotherHome(place)
    try {
      const variables = s3Variables("http://127.0.0.1:9")
      const plain = run(bare, ["node", "dist/berth.js", "serve", "--no-demo"], variables)
      await plain.printed(/Berth is ready/)
      // What is wrong with the bucket is told once, at start, and stops nothing.
      await plain.printed(
        /ERROR Stored documents: can't use the bucket files: http:\/\/127\.0\.0\.1:9 can't be reached/
      )
      const health = await fetch(`http://127.0.0.1:${bare.port}/v1/health`)
      expect(health.status).toBe(200)
      expect(traces(bare.home).machines).toEqual([])
      expect(await plain.end("SIGTERM")).toEqual({ code: 0, signal: null })
      expect(plain.output()).not.toMatch(/Demo|MCP URL/)
      expect(traces(bare.home)).toEqual(nothing)
    } finally {
      sweep(bare)
    }
  }, 120_000)
})
