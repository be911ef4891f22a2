import { closeInherited } from "#src/shared/inherited-descriptors.ts"
import { spawn, type StdioOptions } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, expect, it } from "vitest"
import { describeWhen } from "../support/needs.ts"

/** Node marks the first descriptors itself; one behind a gap stays as it came. */
const high = 77

/** Closes as told, and prints what a child of its own is given beyond stdio, and what it has open there itself. */
const program = (keep: string) => `
const fs = require("fs"), { execFileSync } = require("child_process"), __name = (f) => f
;(${closeInherited.toString()})(fs, ${keep})
const child = execFileSync(process.execPath, ["-p", 'require("fs").readdirSync("/proc/self/fd").join()'])
const open = fs.readdirSync("/proc/self/fd")
console.log(JSON.stringify({ child: String(child).trim().split(","), open: open.includes("${high}") }))
`

describeWhen(
  process.platform === "linux" ? undefined : "Linux only",
  "descriptors left open by whatever started us",
  () => {
    let root: number
    beforeAll(() => {
      root = openSync("/", "r")
    })
    afterAll(() => closeSync(root))

    const startedWith = async (leaked: boolean, keep = "() => false") => {
      const stdio: StdioOptions = ["ignore", "pipe", "inherit"]
      if (leaked) stdio[high] = root
      for (let i = 3; i < stdio.length; i++) stdio[i] ??= "ignore"
      const child = spawn(process.execPath, ["-e", program(keep)], { stdio })
      return JSON.parse(await text(child.stdout!)) as { child: ReadonlyArray<string>; open: boolean }
    }

    it("are closed, so that children get stdio and nothing else", async () => {
      const clean = await startedWith(false)
      expect(await startedWith(true)).toEqual(clean)
      expect(clean.child).not.toContain(String(high))
    })

    it("stay where they are to be kept, and then children do get them", async () => {
      const { child, open } = await startedWith(true, `(descriptor) => descriptor === ${high}`)
      expect(child).toContain(String(high))
      expect(open).toBe(true)
    })
  }
)
