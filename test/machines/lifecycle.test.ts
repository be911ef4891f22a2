import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { full, itLong } from "../support/needs.ts"
import {
  about,
  type Driver,
  driverOf,
  exited,
  processOf,
  reached,
  request,
  socketOf,
  specOf,
  until,
  up
} from "./support.ts"
import { everyTier } from "./tiers.ts"

const node = (script: string) => ["node", "-e", script]
const server = "require('http').createServer((q, s) => s.end('hi')).listen(process.env.PORT)"

const processesNaming = (text: string) =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && Number(pid) !== process.pid &&
        readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(text)
    } catch {
      return false
    }
  })

const groupsNaming = (name: string) => {
  const trees = readFileSync("/proc/self/mountinfo", "utf8").split("\n").filter((line) => / - cgroup2? /.test(line))
  return trees.map((line) => line.split(" ")[4] ?? "").flatMap((tree) =>
    readdirSync(tree).filter((dir) => dir.startsWith("berth-")).map((dir) => join(tree, dir, name)).filter(existsSync)
  )
}

everyTier("a machine's life", (tier) => {
  let driver: Driver
  beforeAll(() => {
    driver = driverOf(tier)
  })
  afterAll(() => driver.clear())

  it("names its tier and what it enforces", async () => {
    const info = await driver.info()
    expect(info).toMatchObject({ name: "sandbox", tier })
    expect(info.enforces).toContain("no capabilities")
  })

  it("is created, starts, answers on its socket well within a second, and is left alone by a second start", async () => {
    const created = await driver.provision(specOf("life"))
    expect(created).toMatchObject({ name: "life", owner: "srv_1", status: "created", exitCode: null })
    const begin = Date.now()
    const running = await driver.start("life")
    await reached(running)
    const took = Date.now() - begin
    expect(running.status).toBe("running")
    expect(took).toBeLessThan(1500)
    const before = processOf(driver, "life")
    expect(await driver.start("life")).toEqual(running)
    expect(processOf(driver, "life")).toEqual(before)
    expect(await driver.provision(specOf("life"))).toEqual(running)
  })

  it("tells how many connections to it are open, from whatever process", async () => {
    const name = "busy"
    const state = await up(driver, specOf(name))
    const count = () => driver.use((machines) => machines.connections(name))
    await until(async () => (await count()) === 0 ? true : undefined)
    const open = [1, 2, 3].map(() => connect(socketOf(state)))
    await until(async () => (await count()) === 3 ? true : undefined)
    const other = spawn(process.execPath, ["-e", `require("net").connect(${JSON.stringify(socketOf(state))})`])
    await until(async () => (await count()) === 4 ? true : undefined)
    other.kill()
    open.pop()?.destroy()
    await until(async () => (await count()) === 2 ? true : undefined)
    for (const socket of open) socket.destroy()
    await until(async () => (await count()) === 0 ? true : undefined)
    expect(await driver.use((machines) => machines.connections("nobody"))).toBe(0)
    await driver.destroy(name)
  })

  it("runs once however often it is started at the same time", async () => {
    await driver.provision(specOf("twice"))
    await Promise.all([1, 2, 3, 4].map(() => driver.start("twice")))
    expect(processesNaming(join(driver.home, "machines/twice/keeper.cjs")).length).toBe(2)
    await driver.destroy("twice")
  })

  it("tells on which ports its processes listen, without the platform's own", async () => {
    const listen =
      "const n = require('net'); n.createServer().listen(4321, '127.0.0.1'); n.createServer().listen(5432, '::1')"
    await driver.provision(specOf("ears", {}, node(`${listen}; setTimeout(() => {}, 60_000)`)))
    expect(await driver.listening("ears")).toEqual([])
    await driver.start("ears")
    const ports = () => driver.listening("ears")
    expect(await until(async () => (await ports()).length === 2 ? ports() : undefined)).toEqual([4321, 5432])
    await driver.destroy("ears")
    expect(await driver.listening("ears")).toEqual([])
    expect(await driver.listening("../ears")).toEqual([])
  })

  it("tells how its process ended", async () => {
    await driver.provision(specOf("seven", {}, node("process.exit(7)")))
    await driver.start("seven")
    expect(await exited(driver, "seven")).toMatchObject({ exitCode: 7 })
    await driver.provision(specOf("killed", {}, ["sh", "-c", "sh -c 'kill -9 $PPID'; sleep 0.2"]))
    await driver.start("killed")
    const { exitCode } = await exited(driver, "killed")
    // As PID 1 of its own namespace a process cannot kill itself.
    expect(exitCode).toBe(tier === "bubblewrap" ? 137 : 0)
  })

  it("tells when its last run began, and when it ended unless nobody saw that", async () => {
    const runs = (name: string) => driver.use((machines) => machines.runs(name))
    const isNow = (at: number | null | undefined) => expect(Math.abs(Date.now() - (at ?? 0))).toBeLessThan(5_000)
    await driver.provision(specOf("timed"))
    expect(await runs("timed")).toEqual([])
    await driver.start("timed")
    const [running] = await runs("timed")
    expect(running).toEqual({ name: "timed", owner: "srv_1", startedAt: expect.any(Number), endedAt: undefined })
    isNow(running?.startedAt)
    await driver.stop("timed", 0)
    const [ended] = await runs("timed")
    expect(ended?.startedAt).toBe(running?.startedAt)
    expect(ended?.endedAt).toBeGreaterThan(running!.startedAt)
    isNow(ended?.endedAt)
    await driver.start("timed")
    expect((await runs("timed"))[0]?.startedAt).toBeGreaterThanOrEqual(ended!.endedAt!)
    for (const pid of processesNaming(join(driver.home, "machines/timed/keeper.cjs"))) {
      process.kill(Number(pid), "SIGKILL")
    }
    await until(async () => (await driver.inspect("timed"))?.status === "exited" ? true : undefined)
    // Of the run before there is a record.
    expect((await runs("timed"))[0]?.endedAt).toBeNull()
    expect(await driver.use((machines) => machines.runs())).toContainEqual((await runs("timed"))[0])
    expect(await runs("../timed")).toEqual([])
    await driver.destroy("timed")
    expect(await runs("timed")).toEqual([])
  })

  it("starts again after its process ended, with its output going on", async () => {
    await driver.provision(specOf("again", {}, ["sh", "-c", "echo once; exit 3"]))
    for (const _ of [1, 2]) {
      await driver.start("again")
      expect((await exited(driver, "again")).exitCode).toBe(3)
    }
    expect((await driver.lines("again", 2)).map(({ offset, text }) => [offset, text])).toEqual([[6, "once"], [
      12,
      "once"
    ]])
  })

  it("says in its output why a command could not run", async () => {
    await driver.provision(specOf("absent", {}, ["/no/such/program"]))
    const started = await driver.start("absent").then(() => true, () => false)
    expect(started).toBe(true)
    expect((await exited(driver, "absent")).exitCode).toBeGreaterThan(0)
    expect((await driver.lines("absent", 1))[0]?.text).toMatch(/no such file|not found/i)
  })

  it("is given time to end after SIGTERM", async () => {
    const script =
      `process.on('SIGTERM', () => setTimeout(() => { console.log('bye'); process.exit(5) }, 200)); ${server}`
    const state = await up(driver, specOf("polite", {}, node(script)))
    await driver.stop("polite", 5)
    expect(await driver.inspect("polite")).toMatchObject({ status: "exited", exitCode: 5 })
    expect((await driver.lines("polite", 1))[0]?.text).toBe("bye")
    await expect(request(state, "/")).rejects.toThrow()
  })

  it("is killed after the grace when it ignores SIGTERM", async () => {
    await up(driver, specOf("stubborn", {}, node(`process.on('SIGTERM', () => {}); ${server}`)))
    const begin = Date.now()
    await driver.stop("stubborn", 1)
    expect(Date.now() - begin).toBeGreaterThan(900)
    expect(Date.now() - begin).toBeLessThan(4000)
    expect(await driver.inspect("stubborn")).toMatchObject({ status: "exited", exitCode: 137 })
  })

  it("ends at once on SIGTERM when it does not handle it, PID 1 or not", async () => {
    await up(driver, specOf("plain", {}, node(server)))
    const begin = Date.now()
    await driver.stop("plain", 10)
    expect(Date.now() - begin).toBeLessThan(2000)
    expect(await driver.inspect("plain")).toMatchObject({ status: "exited", exitCode: 143 })
  })

  itLong("ends on a SIGTERM that comes while it is still being prepared", async () => {
    await driver.provision(specOf("early", {}, node(server)))
    for (let round = 0; round < 8; round++) {
      await driver.start("early")
      await new Promise((resolve) => setTimeout(resolve, 3 * round))
      const begin = Date.now()
      await driver.stop("early", 15)
      expect(Date.now() - begin, `round ${round}`).toBeLessThan(10_000)
    }
  }, 60_000)

  it("leaves nothing behind when destroyed, children that daemonised included", async () => {
    const script =
      `require('child_process').spawn('sleep', ['54321'], {detached: true, stdio: 'ignore'}).unref(); ${server}`
    const state = await up(driver, specOf("gone", {}, node(script)))
    expect(processesNaming("sleep\0" + "54321").length).toBeGreaterThan(0)
    await driver.destroy("gone")
    expect(processesNaming("54321")).toEqual([])
    expect(processesNaming(join(driver.home, "machines/gone"))).toEqual([])
    expect(existsSync(socketOf(state))).toBe(false)
    expect(existsSync(join(driver.home, "machines/gone"))).toBe(false)
    expect(readdirSync(join(driver.home, "machines")).filter((name) => /^\.[0-9a-f]/.test(name))).toEqual([])
    expect(groupsNaming("gone")).toEqual([])
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(driver.home)
    expect(await driver.inspect("gone")).toBeUndefined()
  })

  it("takes stop and destroy of names it does not know", async () => {
    await driver.stop("unknown")
    await driver.destroy("unknown")
    await driver.destroy("../../etc")
    expect(await driver.inspect("../../etc")).toBeUndefined()
    await expect(driver.start("unknown")).rejects.toThrow("not provisioned")
  })

  it("is destroyed once by all who ask for it at the same time, and none of them fails", async () => {
    for (let round = 0; round < (full ? 5 : 2); round++) {
      await driver.provision(specOf("wanted-gone", {}, node(server)))
      await driver.start("wanted-gone")
      const asked = [0, 3, 6, 12].map(async (millis) => {
        await new Promise((resolve) => setTimeout(resolve, millis))
        await driver.destroy("wanted-gone")
      })
      await Promise.all([...asked, driver.stop("wanted-gone", 0)])
      expect(await driver.inspect("wanted-gone")).toBeUndefined()
    }
  })

  it("ends also where how it ended can't be written down", async () => {
    await up(driver, specOf("unwritten", {}, node(server)))
    const exit = join(driver.home, "machines/unwritten/exit.json")
    // A folder that no file can replace.
    mkdirSync(join(exit, "in the way"), { recursive: true })
    await driver.stop("unwritten", 0)
    expect(await driver.inspect("unwritten")).toMatchObject({ status: "exited", exitCode: null })
    await driver.destroy("unwritten")
    expect(await driver.inspect("unwritten")).toBeUndefined()
  })

  it("is destroyed without waiting for a stop that is being patient", async () => {
    await up(driver, specOf("impatient", {}, node(`process.on('SIGTERM', () => {}); ${server}`)))
    const stopping = driver.stop("impatient", 30)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const begin = Date.now()
    await driver.destroy("impatient")
    await stopping
    expect(Date.now() - begin).toBeLessThan(3000)
  })

  it("is listed by owner", async () => {
    await driver.provision(specOf("owned", { owner: "srv_2" }))
    expect((await driver.list("srv_2")).map(({ name }) => name)).toEqual(["owned"])
    expect((await driver.list()).map(({ name }) => name)).toContain("life")
  })

  itLong("lives on when the platform ends, and is found again by name", async () => {
    const first = driverOf(tier)
    const before = await about(await up(first, specOf("kept")))
    await first.close()
    const second = driverOf(tier, first.home)
    const [state] = await second.list()
    expect(state).toMatchObject({ name: "kept", status: "running" })
    if (state !== undefined) expect(await about(state)).toEqual(before)
    await second.clear()
  })

  it("never takes another process for its own when a pid was used again", async () => {
    await driver.provision(specOf("stale", {}, node("process.exit(0)")))
    await driver.start("stale")
    await exited(driver, "stale")
    const path = join(driver.home, "machines/stale/machine.json")
    const record = JSON.parse(readFileSync(path, "utf8")) as { process: { pid: number } }
    const bystander = spawn("sleep", ["60"])
    writeFileSync(path, JSON.stringify({ ...record, process: { ...record.process, pid: bystander.pid } }))
    expect(await driver.inspect("stale")).toMatchObject({ status: "exited" })
    await driver.stop("stale", 0)
    await driver.destroy("stale")
    expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null])
    bystander.kill()
  })

  it("can be listed and destroyed when its record is damaged", async () => {
    await driver.provision(specOf("torn"))
    writeFileSync(join(driver.home, "machines/torn/machine.json"), "{")
    expect((await driver.list()).find(({ name }) => name === "torn")).toMatchObject({ owner: "", status: "exited" })
    await driver.destroy("torn")
    expect(await driver.inspect("torn")).toBeUndefined()
  })

  it("is lost, with no exit code, when something else killed its keeper", async () => {
    await up(driver, specOf("lost", {}, node(server)))
    process.kill(processOf(driver, "lost").pid, "SIGKILL")
    expect(await exited(driver, "lost")).toMatchObject({ exitCode: null })
    const state = await driver.start("lost")
    expect(String(await until(() => request(state, "/").catch(() => undefined)))).toBe("hi")
  })

  it("is ended also when it stands still with its launcher", async () => {
    await up(driver, specOf("still", {}, node(server)))
    // From the launcher to the keeper; what is below ends with that.
    const { pid } = processOf(driver, "still")
    const [keeper] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").map(Number)
    for (const one of [keeper ?? pid, pid]) process.kill(one, "SIGSTOP")
    await driver.stop("still", 0)
    expect(await driver.inspect("still")).toMatchObject({ status: "exited", exitCode: 137 })
    await driver.destroy("still")
  })

  itLong("starts eight at once", async () => {
    const names = Array.from({ length: 8 }, (_, i) => `many-${i}`)
    await Promise.all(names.map(async (name) => about(await up(driver, specOf(name)))))
    await Promise.all(names.map((name) => driver.destroy(name)))
    expect((await driver.list()).filter(({ name }) => name.startsWith("many"))).toEqual([])
  })
})
