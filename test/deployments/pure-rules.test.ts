import { complaint, telling } from "#src/deployments/health.ts"
import { isLeftover } from "#src/deployments/leftover-rule.ts"
import { isDead, probed, watchedFrom } from "#src/deployments/liveness-rule.ts"
import { machineEnvironment, type PlatformValues } from "#src/deployments/machine-environment.ts"
import { admit, burst, fullCap, perSecond } from "#src/deployments/rate-cap.ts"
import {
  attempts,
  rarePause,
  seenDown,
  seenRunning,
  waitingForRoom,
  type Watched
} from "#src/deployments/restart-policy.ts"
import { keptVersions, neededVersions, type Version } from "#src/deployments/retention-rule.ts"
import { rules, stages } from "#src/deployments/transitions.ts"
import { reservedNames, valueBytes } from "#src/servers/EnvironmentVariable.ts"
import { FastCheck } from "effect"
import { assert, describe, it } from "vitest"

const property = <T extends [unknown, ...Array<unknown>]>(
  arbitraries: { [K in keyof T]: FastCheck.Arbitrary<T[K]> },
  holds: (...values: T) => void
) => FastCheck.assert(FastCheck.property(...arbitraries, holds))

describe("a machine's environment", () => {
  const values: PlatformValues = {
    port: 8080,
    autoStopSeconds: 300,
    healthPath: "/healthz",
    healthTimeoutSeconds: 30,
    subdomain: "a.mcp.localhost",
    authUrl: "http://localhost:8787",
    publicUrl: "http://localhost:8787/s/a",
    replayToken: "token"
  }
  const name = FastCheck.oneof(FastCheck.constantFrom(...reservedNames), FastCheck.stringMatching(/^[A-Z_]{1,8}$/))

  it("holds every platform value, and every value of the customer's under another name", () => {
    property([FastCheck.dictionary(name, FastCheck.string())], (customer) => {
      const { env: environment } = machineEnvironment(customer, values)
      assert.strictEqual(environment["PORT"], "8080")
      assert.strictEqual(environment["SVC_MCP_PUBLIC_URL"], values.publicUrl)
      assert.strictEqual(environment["PLATFORM_MCP_REPLAY_TOKEN"], "token")
      for (const [key, value] of Object.entries(customer)) {
        if (!reservedNames.has(key)) assert.strictEqual(environment[key], value)
      }
    })
  })

  it("has no AUTO_STOP_SECONDS where a server never stops, even if the customer set one", () => {
    const { env: environment } = machineEnvironment({ AUTO_STOP_SECONDS: "1" }, { ...values, autoStopSeconds: null })
    assert.notProperty(environment, "AUTO_STOP_SECONDS")
  })

  it("lets a ready configuration of the customer's pass", () => {
    const { env, files } = machineEnvironment({ SVC_READY_CONFIG: "{}" }, values)
    assert.strictEqual(env["SVC_READY_CONFIG"], "{}")
    assert.deepStrictEqual(files, [])
  })

  it("has the ready configuration of the business that is linked, whatever the customer's variables say", () => {
    const customer = { SVC_READY_CONFIG: "{}", SVC_READY_CONFIG_FILE: "/etc/mine.json", A: "a" }
    const { env, files } = machineEnvironment(customer, values, "{\"version\":\"2.0\"}")
    assert.strictEqual(env["SVC_READY_CONFIG"], "{\"version\":\"2.0\"}")
    assert.notProperty(env, "SVC_READY_CONFIG_FILE")
    assert.strictEqual(env["A"], "a")
    assert.deepStrictEqual(files, [])
    const long = machineEnvironment(customer, values, "x".repeat(valueBytes + 1))
    assert.notProperty(long.env, "SVC_READY_CONFIG")
    assert.strictEqual(long.env["SVC_READY_CONFIG_FILE"], "/.berth-files/ready-config.json")
  })

  it("has a ready configuration in a file where it is too long for a variable, counted in bytes", () => {
    const longest = "é".repeat(valueBytes / 2)
    assert.strictEqual(machineEnvironment({ SVC_READY_CONFIG: longest }, values).env["SVC_READY_CONFIG"], longest)
    const { env, files } = machineEnvironment({ SVC_READY_CONFIG: `${longest}.` }, values)
    assert.notProperty(env, "SVC_READY_CONFIG")
    assert.strictEqual(env["SVC_READY_CONFIG_FILE"], "/.berth-files/ready-config.json")
    assert.deepStrictEqual(files, [{ name: "ready-config.json", content: `${longest}.` }])
  })
})

describe("retention", () => {
  const version = FastCheck.record({ ran: FastCheck.boolean(), active: FastCheck.boolean() })
  const history = FastCheck.array(version, { maxLength: 12 }).map((list) =>
    list.map((item, index) => ({ ...item, active: item.active && item.ran, version: index + 1, keptByPlan: 0 }))
  )
  const keptOf = (versions: ReadonlyArray<Version>, deploymentsKept: number, deploymentRetentionCount = 100) =>
    keptVersions(versions, { deploymentsKept }, { deploymentRetentionCount })

  it("keeps what serves and the newest others that ever ran, no more than asked for", () => {
    property([history, FastCheck.integer({ min: 1, max: 10 })], (versions, count) => {
      const kept = keptOf(versions, count)
      const others = versions.filter((item) => item.ran && !item.active)
      for (const item of versions.filter((item) => item.active)) assert.isTrue(kept.has(item.version))
      assert.deepStrictEqual(
        others.filter((item) => kept.has(item.version)).map((item) => item.version),
        others.slice(-count).map((item) => item.version)
      )
      for (const item of versions) if (!item.ran) assert.isFalse(kept.has(item.version))
    })
  })

  it("is the plan's where the server asks for more", () => {
    property([history], (versions) => {
      assert.deepStrictEqual(keptOf(versions, 3, 10), keptOf(versions, 3))
      assert.deepStrictEqual(keptOf(versions, 10, 2), keptOf(versions, 2))
    })
  })

  it("loses nothing with a plan that is left; each deployment after that pushes the oldest out", () => {
    property([history, FastCheck.integer({ min: 1, max: 10 })], (versions, count) => {
      const before = versions.map((item) => ({ ...item, keptByPlan: 10 }))
      assert.deepStrictEqual(keptOf(before, 3, count), keptOf(before, 10, count))
    })
    const older = Array.from({ length: 11 }, (_, at) => ({ version: at + 1, ran: true, active: false, keptByPlan: 10 }))
    const numbers = (kept: ReadonlySet<number>) => [...kept].sort((a, b) => a - b)
    const newer = { version: 12, ran: true, active: true, keptByPlan: 3 }
    assert.deepStrictEqual(numbers(keptOf([...older, newer], 3)), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    const next = [...older, ...[12, 13, 14, 15, 16].map((version) => ({ ...newer, version, active: version === 16 }))]
    assert.deepStrictEqual(numbers(keptOf(next, 3)), [6, 7, 8, 9, 10, 11, 13, 14, 15, 16])
  })
})

describe("the images that are needed", () => {
  const row = FastCheck.record({
    serverId: FastCheck.constantFrom("a", "b"),
    ran: FastCheck.boolean(),
    active: FastCheck.boolean(),
    inFlight: FastCheck.boolean(),
    keptForLogs: FastCheck.boolean(),
    stands: FastCheck.boolean(),
    deploymentRetentionCount: FastCheck.constantFrom(1, 2)
  })
  const rows = FastCheck.array(row, { maxLength: 14 }).map((list) =>
    list.map((item, index) => ({
      ...item,
      active: item.active && item.ran,
      id: String(index),
      version: index + 1,
      plan: "free" as const,
      keptByPlan: 0,
      deploymentRetentionCount: item.serverId === "a" ? 1 : 2
    }))
  )

  it("are those of versions that are kept, on their way, or have a machine, each by its own server's count", () => {
    property([rows], (versions) => {
      const standing = new Set(versions.filter(({ stands }) => stands).map(({ id }) => id))
      const needed = new Set(neededVersions(versions, standing))
      for (const version of versions) {
        const own = versions.filter(({ serverId }) => serverId === version.serverId)
        const count = version.serverId === "a" ? 1 : 2
        const kept = keptVersions(own, { deploymentsKept: 3 }, { deploymentRetentionCount: count }).has(version.version)
        const { inFlight, keptForLogs, stands } = version
        assert.strictEqual(needed.has(version), kept || inFlight || keptForLogs || stands)
      }
    })
  })
})

describe("leftovers", () => {
  it("never are a machine that serves or drains, or one whose deployment is in flight", () => {
    property(
      [FastCheck.constantFrom(...stages), FastCheck.boolean(), FastCheck.boolean(), FastCheck.boolean()],
      (stage, active, superseded, drains) => {
        const { status } = rules[stage]
        const leftover = isLeftover({ stage, status, active, superseded, drains })
        if (active || drains || status === "pending" || status === "building") assert.isFalse(leftover)
        else if (stage === "kept") assert.strictEqual(leftover, superseded)
        else assert.isTrue(leftover)
      }
    )
  })

  it("are machines whose deployment is gone", () => {
    assert.isTrue(isLeftover(undefined))
  })
})

describe("restarting", () => {
  const crash = (from: Watched, now: number) => {
    const [waiting, first] = seenDown(from, now)
    if (first._tag !== "Wait") return { watched: waiting, decision: first, now }
    const [started, decision] = seenDown(waiting, waiting.notBefore)
    return { watched: started, decision, now: waiting.notBefore }
  }

  it("starts what ended with the platform at once, and does not hold it against it", () => {
    const [watched, decision] = seenDown(undefined, 1000)
    assert.deepStrictEqual(decision, { _tag: "Start", attempt: 0 })
    assert.strictEqual(watched.crashes, 0)
  })

  it("tries again as long as the platform has no room to start it, and counts none of it", () => {
    let now = 0
    for (let tries = 0; tries < 3 * attempts; tries++) {
      const watched = waitingForRoom(now)
      assert.deepStrictEqual(seenDown(watched, now + 29_999)[1], { _tag: "Wait" })
      now += 30_000
      const [started, decision] = seenDown(watched, now)
      assert.deepStrictEqual([decision, started.crashes, started.givenUp], [{ _tag: "Start", attempt: 0 }, 0, false])
    }
  })

  it("starts what crashed at once, then waits longer each time, and gives up after five crashes in a row", () => {
    let state = { watched: seenRunning(undefined, 0), decision: { _tag: "Wait" } as unknown, now: 0 }
    const starts: Array<number> = []
    for (let n = 1; n <= attempts; n++) {
      state = crash(state.watched, state.now)
      assert.deepStrictEqual(state.decision, { _tag: "Start", attempt: n })
      starts.push(state.now)
    }
    assert.deepStrictEqual(starts, [0, 1_000, 3_000, 7_000, 15_000].slice(0, attempts))
    const last = crash(state.watched, state.now)
    assert.deepStrictEqual(last.decision, { _tag: "GiveUp" })
    // Whoever starts it begins anew.
    assert.deepStrictEqual(seenRunning(last.watched, state.now), seenRunning(undefined, state.now))

    // It is tried rarely from then on, each time once, until it stays.
    let { watched } = last
    let { now } = last
    for (let tries = 0; tries < 3; tries++) {
      assert.deepStrictEqual(seenDown(watched, now + rarePause - 1)[1], { _tag: "Wait" })
      const [tried, decision] = seenDown(watched, now + rarePause)
      assert.deepStrictEqual(decision, { _tag: "Try" })
      now += rarePause + 30_000
      const [again, gave] = seenDown(seenRunning(tried, now), now)
      assert.deepStrictEqual(gave, { _tag: "GiveUp" })
      watched = again
    }
    const [tried] = seenDown(watched, now + rarePause)
    const peace = now + rarePause + 60_000
    assert.isTrue(seenRunning(tried, peace, true).givenUp)
    assert.deepInclude(seenRunning(tried, peace), { crashes: 0, givenUp: false, tried: false })
  })

  it("forgets crashes after a minute of peace", () => {
    const { now, watched } = crash(crash(seenRunning(undefined, 0), 0).watched, 5_000)
    assert.strictEqual(watched.crashes, 2)
    assert.strictEqual(seenRunning(watched, now + 59_999).crashes, 2)
    assert.strictEqual(seenRunning(watched, now + 60_000).crashes, 0)
  })
})

describe("the cap on output", () => {
  const line = FastCheck.record({ text: FastCheck.string({ maxLength: 2_000 }) })

  it("admits in order, drops nothing silently, and never exceeds burst and rate", () => {
    property(
      [FastCheck.array(FastCheck.tuple(FastCheck.nat(2_000), FastCheck.array(line, { maxLength: 50 })))],
      (batches) => {
        let cap = fullCap(0)
        let now = 0
        let admitted = 0
        let offered = 0
        for (const [pause, lines] of batches) {
          now += pause
          const result = admit(cap, now, lines)
          assert.deepStrictEqual(result.admitted, lines.filter((one) => result.admitted.includes(one)))
          cap = result.cap
          admitted += result.admitted.length
          offered += lines.length
          assert.isAtMost(admitted, burst + (now * perSecond) / 1000)
          assert.isAtLeast(cap.tokens, 0)
        }
        assert.strictEqual(cap.dropped, offered - admitted)
      }
    )
  })

  it("admits again after a pause", () => {
    const many = Array.from({ length: burst + 5 }, () => ({ text: "x" }))
    const { admitted, cap } = admit(fullCap(0), 0, many)
    assert.strictEqual(admitted.length, burst)
    assert.strictEqual(cap.dropped, 5)
    assert.strictEqual(admit(cap, 1_000, many).admitted.length, perSecond)
  })
})

describe("health", () => {
  it("is status 200 with a JSON body, and nothing else", () => {
    property(
      [FastCheck.integer({ min: 200, max: 599 }), FastCheck.oneof(FastCheck.json(), FastCheck.string())],
      (status, body) => {
        let json = true
        try {
          JSON.parse(body)
        } catch {
          json = false
        }
        assert.strictEqual(complaint({ _tag: "Answered", status, body }, 8080) === undefined, status === 200 && json)
      }
    )
  })
  it("tells apart who does not listen, who does not answer, and who answers wrongly", () => {
    assert.include(complaint({ _tag: "NotListening", why: "connection refused" }, 8080)!, "must listen on PORT")
    assert.include(complaint({ _tag: "Silent" }, 8080)!, "did not answer")
    assert.include(complaint({ _tag: "Answered", status: 500, body: "{}" }, 8080)!, "status 500")
    assert.include(complaint({ _tag: "Answered", status: 200, body: "fine" }, 8080)!, "not JSON")
    assert.include(complaint({ _tag: "Answered", status: 200, body: "", isTooLarge: true }, 8080)!, "than 64 KiB")
  })
  it("tells what a probe heard, not the silence of a later one that had less time", () => {
    const large = { _tag: "Answered", status: 200, body: "", isTooLarge: true } as const
    const silent = { _tag: "Silent" } as const
    assert.strictEqual(telling(large, silent, true), large)
    assert.strictEqual(telling(large, silent, false), silent)
    assert.strictEqual(telling(undefined, silent, true), silent)
    assert.strictEqual(telling(silent, large, true), large)
    // While the machine booted nothing listened yet.
    const booting = { _tag: "NotListening", why: "connection refused" } as const
    assert.strictEqual(telling(booting, silent, true), silent)
  })
})

describe("the signs of life of a machine", () => {
  const at = (now: number, random = 0) => ({ now, rule: { healthTimeoutSeconds: 30, isAwaited: true, random } })
  const begun = watchedFrom(0, 0)

  it("is dead after three probes in a row without an answer, and no sooner", () => {
    property([FastCheck.array(FastCheck.boolean(), { maxLength: 20 })], (answers) => {
      let liveness = probed(begun, true, 1_000, at(0).rule)
      answers.forEach((isAnswer, i) => liveness = probed(liveness, isAnswer, 60_000 + i * 15_000, at(0).rule))
      const silent = [...answers].reverse().findIndex((isAnswer) => isAnswer)
      assert.strictEqual(isDead(liveness), (silent === -1 ? answers.length : silent) >= 3)
      assert.strictEqual(liveness.answersSince === undefined, answers.at(-1) === false)
    })
  })

  it("may be silent at its start for as long as its health check waits", () => {
    const early = [12_000, 24_000, 29_000].reduce((one, now) => probed(one, false, now, at(0).rule), begun)
    assert.strictEqual(early.silent, 0)
    const late = [31_000, 45_000, 60_000].reduce((one, now) => probed(one, false, now, at(0).rule), early)
    assert.isTrue(isDead(late))
  })

  it("that passed its health check is dead after three probes, also where it was never asked before", () => {
    const rule = { ...at(0).rule, isAwaited: false }
    const silent = [8_000, 12_500, 17_000].reduce((one, now) => probed(one, false, now, rule), begun)
    assert.isTrue(isDead(silent))
  })

  it("is asked every 3 to 4 seconds", () => {
    property([FastCheck.boolean(), FastCheck.double({ min: 0, max: 1, noNaN: true })], (isAnswer, random) => {
      const { nextAt } = probed(begun, isAnswer, 100_000, at(0, random).rule)
      assert.isAtLeast(nextAt, 103_000)
      assert.isAtMost(nextAt, 104_000)
    })
  })

  it("settles no machine that is silent, however long it runs", () => {
    const [started] = seenDown(seenRunning(undefined, 0), 10_000)
    assert.strictEqual(seenRunning(started, 100_000, true).crashes, 1)
    assert.strictEqual(seenRunning(started, 100_000).crashes, 0)
    assert.strictEqual(seenDown(started, 100_000, true)[0].crashes, 2)
    assert.strictEqual(seenDown(started, 100_000)[0].crashes, 1)
  })
})
