import {
  afterProbe,
  firstHistory,
  type HealthHistory,
  healthScore,
  probeCounts,
  window
} from "#src/servers/health-history.ts"
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"

const after = (probes: ReadonlyArray<boolean>, seconds: number, before: HealthHistory = firstHistory) =>
  probes.reduce((history, isGood) => afterProbe(history, isGood, seconds), before)

const many = (count: number, isGood: boolean) => Array.from({ length: count }, () => isGood)

describe("the health score", () => {
  it("is the share of good probes in percent, rounded, and 0 without any", () => {
    expect(healthScore({ hours: [] })).toBe(0)
    expect(healthScore(firstHistory)).toBe(100)
    expect(healthScore(after([true, false], 60))).toBe(67)
    expect(healthScore(after([false], 60))).toBe(50)
    expect(healthScore(after(many(1_439, false), 60))).toBe(0)
  })

  it("forgets what is more than 24 running hours ago", () => {
    const bad = after(many(60 * 24, false), 60)
    expect(healthScore(bad)).toBe(0)
    const half = after(many(60 * 12, true), 60, bad)
    expect(healthScore(half)).toBe(50)
    expect(healthScore(after(many(60 * 12, true), 60, half))).toBe(100)
  })

  it("counts the same whatever the interval", () => {
    for (const seconds of [3, 60, 300, 1_800, 3_600]) {
      const probes = window * 3_600 / seconds
      const half = after([...many(probes / 2, false), ...many(probes / 2, true)], seconds)
      expect(Math.abs(healthScore(half) - 50), `${seconds} s`).toBeLessThanOrEqual(3)
      expect(healthScore(after(many(probes, true), seconds, half)), `${seconds} s`).toBe(100)
    }
  })

  it("is from 0 to 100, of at most 24 hours, and what the probes of that time say", () => {
    const intervals = FastCheck.integer({ min: 3, max: 3_600 })
    const runs = FastCheck.array(FastCheck.tuple(FastCheck.boolean(), intervals), { maxLength: 200 })
    FastCheck.assert(FastCheck.property(runs, (run) => {
      const history = run.reduce((sum, [isGood, seconds]) => afterProbe(sum, isGood, seconds), firstHistory)
      const score = healthScore(history)
      const { failures, probes } = probeCounts(history)
      expect(history.hours.length).toBeLessThanOrEqual(window)
      expect(history.hourSeconds).toBeLessThanOrEqual(3_600)
      expect(score).toBeGreaterThanOrEqual(0)
      expect(score).toBeLessThanOrEqual(100)
      const last = [true, ...run.map(([isGood]) => isGood)].slice(-probes)
      expect([last.length, last.filter((isGood) => !isGood).length]).toEqual([probes, failures])
    }))
  })

  it("covers 23 to 24 hours of running as soon as there are as many", () => {
    FastCheck.assert(FastCheck.property(FastCheck.integer({ min: 3, max: 1_800 }), (seconds) => {
      const { probes } = probeCounts(after(many(Math.ceil(30 * 3_600 / seconds), true), seconds))
      const perHour = Math.floor(3_600 / seconds)
      expect(probes).toBeGreaterThan(perHour * (window - 1))
      expect(probes).toBeLessThanOrEqual(perHour * window)
    }))
  })
})
