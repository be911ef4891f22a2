import { runConfig, sessionsIn } from "#src/deployments/run-options.ts"
import { isExactly, sameAs } from "#src/packages/kept-lock.ts"
import { npmComplaint } from "#src/packages/npm-complaint.ts"
import { readNpmLock } from "#src/packages/npm-lock.ts"
import { npmPrograms } from "#src/packages/npm-programs.ts"
import { misfit } from "#src/packages/npm.ts"
import { parsePackage, requirement } from "#src/packages/reference.ts"
import { Either, FastCheck as fc } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { temporaryDirectory } from "../support/Settings.ts"

const taken = (imageUri: string) =>
  Either.map(parsePackage(imageUri), requirement).pipe(Either.getOrElse(() => "refused"))

describe("the name of a package", () => {
  it.each([
    ["npm:name", "name"],
    ["npm:@scope/name", "@scope/name"],
    ["npm:@scope/name@1.2.3-rc.1+build.5", "@scope/name@1.2.3-rc.1+build.5"],
    ["npm:name@^1.2", "name@^1.2"],
    ["npm:name@1.x", "name@1.x"],
    ["npm:name@next", "name@next"],
    ["npm:JSONStream@1", "JSONStream@1"],
    ["pypi:name", "name"],
    ["pypi:Na.me_x==1.2.3", "Na.me_x==1.2.3"],
    ["pypi:name[a,b]>=1.2,<2", "name[a,b]>=1.2,<2"],
    ["pypi:name==1.0.post1", "name==1.0.post1"]
  ])("%s is %s for its program", (imageUri, expected) => expect(taken(imageUri)).toBe(expected))

  it("is nothing that a program could take for an option, a path, an address or a second argument", () => {
    const part = fc.oneof(
      fc.constantFrom(
        "npm:",
        "pypi:",
        "-",
        "--",
        "@",
        "/",
        "..",
        "file:",
        "git+ssh://h",
        "http://h/x.tgz",
        ".tgz",
        ".whl",
        "+",
        ".tar.gz",
        " ",
        "==",
        "[",
        "]",
        ";",
        "1.2.3",
        "a",
        "\n",
        "\0",
        "%2f"
      ),
      fc.string({ unit: "grapheme", maxLength: 6 })
    )
    fc.assert(
      fc.property(fc.constantFrom("npm:", "pypi:"), fc.array(part, { maxLength: 6 }), (registry, parts) => {
        const text = taken(registry + parts.join(""))
        if (text === "refused") return
        expect(text).toMatch(/^[@A-Za-z0-9][A-Za-z0-9@/^~.,_<>=!+*[\]-]*$/)
        expect(text).not.toMatch(/\.\.\/|:|\s|\.(tgz|tar|zip|whl|tar\.gz|tar\.bz2)$/i)
        expect((text.match(/\//g) ?? []).length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 2_000 }
    )
  })
})

describe("what npm warns of a Node", () => {
  const warned = "npm warn EBADENGINE Unsupported engine {\nnpm warn EBADENGINE   package: 'inner@1.0.0',\n" +
    "npm warn EBADENGINE   required: { node: '>=24' },\nnpm warn EBADENGINE }\n" +
    "npm warn EBADENGINE Unsupported engine {\nnpm warn EBADENGINE   package: '@a/b@2.0.0',\n" +
    "npm warn EBADENGINE   required: { npm: '>=8', node: '>=22.13' },\n"
  it("is told of the package itself", () => {
    expect(misfit(warned, "@a/b", "2.0.0")).toBe(">=22.13")
    expect(misfit(warned, "@a/b", "1.0.0")).toBeUndefined()
    expect(misfit("", "@a/b", "2.0.0")).toBeUndefined()
  })
})

describe("the lock of a version that served", () => {
  const of = (imageUri: string) => Either.getOrThrow(parsePackage(imageUri))
  const served = (imageUri: string, version = "1.0.0") => ({ digest: "sha256:x", imageUri, version })
  it("is that of the same package with the same extras, however it was asked for", () => {
    const all = ["npm:a@^1", "npm:b", "pypi:a", "pypi:A_b[y,x]>=1", "pypi:a-b[x]"].map((uri) => served(uri))
    expect(sameAs(of("npm:a"), all)).toEqual([all[0]])
    expect(sameAs(of("pypi:a.b[x,y]==1.0"), all)).toEqual([all[3]])
    expect(sameAs(of("npm:c"), all)).toEqual([])
  })
  it("needs no look at the registry where one version alone is meant", () => {
    expect([isExactly(of("npm:a@1.0.0"), "1.0.0"), isExactly(of("pypi:a==1.0.0"), "1.0.0")]).toEqual([true, true])
    for (const uri of ["npm:a", "npm:a@1.0", "npm:a@^1.0.0", "npm:a@latest", "pypi:a", "pypi:a>=1.0.0"]) {
      expect(isExactly(of(uri), "1.0.0"), uri).toBe(false)
    }
  })
})

describe("the programs of a package of npm", () => {
  const files = {
    "a.js": "",
    "noext": "console.log(1)",
    "shebang": "#!/usr/bin/env node\n",
    "binary": "\u007fELF\u0002",
    "shell": "#!/bin/sh\n",
    "types.ts": "",
    "snake.py": "#!/usr/bin/env python3\n"
  }
  it("run as npm would run them, and on Node where a file says nothing", async () => {
    const folder = temporaryDirectory("programs")
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    const bin = Object.fromEntries(Object.keys(files).map((name) => [name, name]))
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "x", bin }))
    expect(Either.getOrThrow(await npmPrograms(folder, "/app/x", "x", "/node")).programs).toEqual({
      "a.js": ["/node", "/app/x/a.js"],
      noext: ["/node", "/app/x/noext"],
      shebang: ["/node", "/app/x/shebang"],
      binary: ["/app/x/binary"]
    })
  })
})

describe("a lock of npm's", () => {
  const origin = "https://registry.test"
  const good = { version: "1.0.0", resolved: `${origin}/a/-/a-1.0.0.tgz`, integrity: "sha512-x" }
  const lockOf = (packages: Readonly<Record<string, unknown>>) =>
    JSON.stringify({ lockfileVersion: 3, packages: { "": {}, "node_modules/a": good, ...packages } })
  const read = (packages: Readonly<Record<string, unknown>>) => readNpmLock(lockOf(packages), "a", origin)

  it("is read with its version and the packages that have scripts", () => {
    const lock = Either.getOrThrow(read({ "node_modules/a/node_modules/@b/c": { ...good, hasInstallScript: true } }))
    expect(lock).toMatchObject({ version: "1.0.0", packages: 2, withScripts: ["@b/c"] })
    expect(JSON.parse(lock.pinned)).toMatchObject({ packages: { "": { dependencies: { a: "1.0.0" } } } })
  })

  it.each([
    { "../outside": good },
    { "node_modules/../../outside": good },
    { "node_modules/..": good },
    { "node_modules/b": { ...good, link: true } },
    { "node_modules/b": { ...good, resolved: "git+ssh://git@github.com/b.git#abc" } },
    { "node_modules/b": { ...good, resolved: "https://registry.test.evil.example/b.tgz" } },
    { "node_modules/b": { ...good, resolved: "file:../../etc" } },
    { "node_modules/b": { version: "1.0.0" } },
    { "node_modules/b": { version: "1.0.0", resolved: good.resolved } }
  ])("is refused with %j", (packages) => expect(Either.isLeft(read(packages))).toBe(true))

  it("goes without optional packages that the registry lacks, wherever else one of that name may be", () => {
    const { lacking, pinned } = Either.getOrThrow(read({
      "node_modules/a": { ...good, optionalDependencies: { b: "1", gone: "1" } },
      "node_modules/c": { ...good, optionalDependencies: { b: "1", d: "1" } },
      "node_modules/c/node_modules/b": good,
      "node_modules/d": good
    }))
    expect(lacking).toEqual(["b", "gone"])
    expect(JSON.parse(pinned)).toMatchObject({
      packages: {
        "node_modules/a": { optionalDependencies: {} },
        "node_modules/c": { optionalDependencies: { b: "1", d: "1" } }
      }
    })
  })

  it("is refused when it is none", () => {
    for (const text of ["", "{", "{}", "{\"lockfileVersion\":2,\"packages\":{}}"]) {
      expect(Either.isLeft(readNpmLock(text, "a", origin))).toBe(true)
    }
  })
})

describe("how a program is run", () => {
  const config = { entrypoint: ["/app"], cmd: ["serve"], env: [], workingDir: "/", user: "" }
  const none = {
    args: null,
    command: null,
    transport: null,
    processes: null,
    packageScripts: false,
    node: null,
    freshDependencies: false
  }

  it("is as the image says, unless args replaces its CMD and command its ENTRYPOINT", () => {
    const run = (options: object) => {
      const { cmd, entrypoint } = runConfig(config, "registry.test/a:1", { ...none, ...options }, 256)
      return [...entrypoint, ...cmd]
    }
    expect(run({})).toEqual(["/app", "serve"])
    expect(run({ args: ["x"] })).toEqual(["/app", "x"])
    expect(run({ args: [] })).toEqual(["/app"])
    expect(run({ command: "/other" })).toEqual(["/other"])
    expect(run({ command: "/other", args: ["x"] })).toEqual(["/other", "x"])
  })

  it("is told to the program that serves a package, whose arguments come last", () => {
    const options = { ...none, args: ["--", "--sessions=99"], command: "it", processes: "shared" } as const
    expect(runConfig(config, "npm:a", options, 512).cmd)
      .toEqual(["--command=it", "--processes=shared", "--sessions=7", "--", "--", "--sessions=99"])
    expect([64, 256, 512, 4096].map(sessionsIn)).toEqual([1, 3, 7, 16])
  })
})

it("npm's complaint of what there is not is said plainly, any other in its words without codes and hints", () => {
  const said = (...lines: ReadonlyArray<string>) =>
    npmComplaint(
      `npm failed: ${lines.map((line) => `npm error ${line}`).join("\n")}`,
      "https://registry.example.com/npm"
    )
  expect(said("code ETARGET", "notarget No matching version found for @a/b@99.0.0.", "notarget In most cases you"))
    .toBe("the registry registry.example.com has no version @a/b@99.0.0")
  const gone = "404 Not Found - GET https://registry.example.com/npm/@a%2fb - Not found"
  expect(said("code E404", gone, "404", "404  '@a/b@latest' is not in this registry.", "404 Note that you can"))
    .toBe("the registry registry.example.com has no package @a/b")
  expect(said("code E404", gone, "404  The requested resource 'b@^1' could not be found or you do not have permission"))
    .toBe("the registry registry.example.com has no package b")
  expect(said("code EINTEGRITY", "sha512 is wrong", "A complete log of this run")).toBe("npm failed: sha512 is wrong")
})
