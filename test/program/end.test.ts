import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { appImage, type Behaviour, missingForApps } from "../deployments/support/app-image.ts"
import { type Account, dataOf, type Listed, signUp } from "../support/account.ts"
import { send } from "../support/http.ts"
import { describeLong, full, itLong, long } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { anotherHome, build, clear, newPlace, type Place, type Program, run, sweep } from "./support/program.ts"
import { nothing, traces } from "./support/traces.ts"

let built: Place
beforeAll(async () => {
  built = await newPlace()
  await build(built)
}, 120_000)
afterAll(() => clear(built))

const command = ["node", "dist/berth.js", "serve", "--no-demo"] as const

describeLong(
  "the end of a platform, with a machine that ignores SIGTERM and a request that hangs",
  () => {
    let place: Place
    let program: Program
    let hanging: Promise<unknown>
    beforeAll(async () => {
      place = await anotherHome(built)
    })
    afterEach(() => sweep(place))

    const base = () => `http://127.0.0.1:${place.port}`
    const request: Account["berth"]["request"] = (method, path, sent) => send(base(), method, path, sent)

    const stubborn = async (seconds: number) => {
      program = run(place, command, { SHUTDOWN_SECONDS: String(seconds) })
      await program.printed(/Berth is ready/)
      const owner = await signUp({ databaseUrl: "", request }, "free")
      const server = await owner.server((await owner.project()).id)
      const deploy = async (image: Behaviour) =>
        owner.post(`/v1/servers/${server.id}/deploy`, { imageUri: await Effect.runPromise(appImage(image)) })
      expect((await deploy("stubborn")).body).toMatchObject({ data: { status: "running" } })
      const { accessToken } = dataOf(
        await owner.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, undefined)
      )
      const hang = () => request("GET", `/s/${server.slug}/hang`, { token: accessToken }).catch(() => "cut")
      return { owner, deploy, hang, server }
    }

    const start = async (seconds: number) => {
      const { hang, owner } = await stubborn(seconds)
      hanging = hang()
      await setTimeout(300)
      await owner.delete(`/v1/projects/none`)
    }

    const took = async (work: () => Promise<unknown>) => {
      const started = performance.now()
      await work()
      return (performance.now() - started) / 1000
    }

    it("takes no longer than SHUTDOWN_SECONDS, all together, and leaves nothing", async () => {
      await start(6)
      const seconds = await took(async () =>
        expect(await program.end("SIGTERM"), program.output()).toEqual({ code: 0, signal: null })
      )
      expect(seconds).toBeLessThan(6.5)
      expect(await hanging).toMatchObject({ status: 502 })
      expect(traces(place.home)).toEqual(nothing)
      expect(program.output()).toMatch(/waiting for one request under way, 3 seconds at most/)
    }, 90_000)

    it("gives the machine a quarter of the time, where no request is under way", async () => {
      place = await anotherHome(built)
      await stubborn(20)
      const ended = program.end("SIGTERM")
      const seconds = await took(() =>
        expect.poll(() => traces(place.home).machines, { timeout: 20_000, interval: 50 }).toEqual([])
      )
      expect(seconds).toBeGreaterThan(4.5)
      expect(seconds).toBeLessThan(12)
      expect(await ended, program.output()).toEqual({ code: 0, signal: null })
      expect(traces(place.home)).toEqual(nothing)
    }, 90_000)

    it("ends one that drains, too, and answers who waits for a deployment with it as it is", async () => {
      place = await anotherHome(built)
      const { deploy, hang, owner, server } = await stubborn(10)
      hanging = hang()
      await setTimeout(300)
      expect((await deploy("healthy")).body).toMatchObject({ data: { status: "running" } })
      const waiting = deploy("silent")
      const newest = async () =>
        (await owner.get<Listed<{ status: string }>>(`/v1/servers/${server.id}/deployments`)).body.data[0]
      await expect.poll(newest, { timeout: 20_000 }).toMatchObject({ status: "building" })
      expect(await program.end("SIGTERM"), program.output()).toEqual({ code: 0, signal: null })
      expect(await waiting).toMatchObject({ status: 201, body: { data: { status: "building" } } })
      expect(traces(place.home)).toEqual(nothing)
    }, 90_000)

    it("leaves no database that a killed one had left, however soon a start is ended", async () => {
      place = await anotherHome(built)
      program = run(place, command)
      await program.printed(/Berth is ready/)
      await program.end("SIGKILL")
      expect(traces(place.home)).not.toEqual(nothing)
      const tell = "setInterval(() => process.listenerCount('SIGTERM') > 1 && console.log('takes signals'), 5).unref()"
      program = run(place, ["node", "--import", `data:text/javascript,${tell}`, ...command.slice(1)])
      await program.printed(/takes signals/)
      expect(await program.end("SIGTERM"), program.output()).toEqual({ code: 0, signal: null })
      expect(traces(place.home)).toEqual(nothing)
    }, 90_000)

    it("is hurried by a second signal that is no echo of the first, and leaves nothing either", async () => {
      place = await anotherHome(built)
      await start(600)
      process.kill(program.pid, "SIGTERM")
      await setTimeout(100)
      process.kill(program.pid, "SIGTERM")
      await setTimeout(1_500)
      expect(() => process.kill(program.pid, 0)).not.toThrow()
      const seconds = await took(async () =>
        expect(await program.end("SIGTERM"), program.output()).toEqual({ code: 0, signal: null })
      )
      expect(seconds).toBeLessThan(4)
      expect(traces(place.home)).toEqual(nothing)
    }, 90_000)
  },
  missingForApps
)

const isRoot = process.getuid?.() === 0

describe("a platform whose log can't be written", () => {
  it.skipIf(!full || !isRoot || process.platform !== "linux")(
    long(
      "serves on while the disk of its log is full, and tells of what is lost as soon as it can; its reader may go, too"
    ),
    async () => {
      const place = await anotherHome(built)
      const disk = temporaryDirectory("disk")
      mkdirSync(disk, { recursive: true })
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", disk])
      const log = join(disk, "log")
      const line = `exec ${command.join(" ")} 2>>${log}`
      const program = run(place, ["sh", "-c", line], { LOG_LEVEL: "DEBUG" })
      try {
        // What is printed has no reader any more.
        program.closeOutput()
        const base = `http://127.0.0.1:${place.port}`
        const health = () => send(base, "GET", "/v1/health").then(({ status }) => status, () => 0)
        await expect.poll(health, { timeout: 60_000 }).toBe(200)
        expect(() => appendFileSync(join(disk, "fill"), Buffer.alloc(512 * 1024))).toThrow(/ENOSPC/)
        // More than the rest of the log's last page holds.
        for (let i = 0; i < 150; i++) expect(await health()).toBe(200)
        writeFileSync(join(disk, "fill"), "")
        await expect.poll(async () => {
          await health()
          return readFileSync(log, "utf8")
        }, { timeout: 10_000 }).toMatch(
          /\d+ lines could not be written here and are lost \(ENOSPC\)\n.*GET \/v1\/health 200/
        )
        expect(await program.end("SIGTERM")).toEqual({ code: 0, signal: null })
      } finally {
        sweep(place)
        execFileSync("umount", ["-l", disk])
        rmSync(disk, { recursive: true, force: true })
        clear({ ...place, folder: disk })
      }
    },
    90_000
  )
})

describeLong("a platform that may open too few files", () => {
  itLong("says so at the start, in a sentence", async () => {
    const place = await anotherHome(built)
    const program = run(place, ["sh", "-c", `ulimit -n 256; exec ${command.join(" ")}`])
    await program.printed(/raise the limit/)
    expect(await program.end("SIGTERM")).toMatchObject({ code: 1 })
    expect(program.output()).toBe(
      "This process may open 256 files, and at least 4096 are needed: raise the limit with \"ulimit -n 65536\", or " +
        "LimitNOFILE=65536 in its systemd unit\n"
    )
  }, 30_000)
})
