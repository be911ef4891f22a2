import { DeployInput } from "#src/deployments/Deployment.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Environment } from "#src/servers/Environment.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Servers } from "#src/servers/Servers.ts"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Fiber, Schema, Stream } from "effect"
import { full, long } from "../support/needs.ts"
import { appImage } from "./support/app-image.ts"
import { getFrom } from "./support/http.ts"
import { asActor, makeActor, makeServer, platformSuite } from "./support/platform.ts"
import { until } from "./support/wait.ts"

platformSuite(
  "a deployment",
  (it) => {
    it.effect(
      "is pending at first and ends running, with its digest, its progress and a line for each stage",
      () =>
        Effect.gen(function*() {
          const deployments = yield* Deployments
          const { as, server } = yield* makeServer()
          assert.strictEqual(server.status, "provisioning")
          const imageUri = yield* appImage("healthy")
          const pending = yield* as(deployments.deploy(server.id, { imageUri }))
          assert.deepInclude(pending, {
            status: "pending",
            version: 1,
            type: "deploy",
            active: false,
            imageDigest: null
          })
          assert.notProperty(pending, "errorMessage")
          const steps = yield* Effect.fork(as(Stream.runCollect(deployments.progress(pending.id))))
          const done = yield* as(deployments.settled(pending.id))
          assert.deepInclude(done, { status: "running", active: true, trivyScanResult: null, imageUri })
          assert.match(done.imageDigest!, /^sha256:/)
          assert.isAtLeast(done.deployedAt!.getTime(), done.createdAt.getTime())
          assert.deepStrictEqual(yield* as(deployments.get(server.id, done.id)), done)
          assert.strictEqual(
            (yield* as(Effect.flatMap(Servers, (servers) => servers.get(server.id)))).status,
            "running"
          )

          const seen = Chunk.toReadonlyArray(yield* Fiber.join(steps))
          const at = seen.map(({ step }) => step)
          assert.deepStrictEqual(
            at,
            [...at].sort((a, b) => a - b)
          )
          assert.deepInclude(seen.at(-1), { step: 7, total: 7 })
          assert.isAbove(
            new Set(seen.map(({ stage }) => stage)).size,
            2
          )

          const lines = yield* until(
            as(Effect.flatMap(ServerLogs, (logs) => logs.list(server.id, { limit: 200 }))),
            ({ items }) => items.some(({ message }) => message.includes("listening on 8080"))
          )
          const text = lines.items.map(({ message }) => message).join("\n")
          for (
            const part of [
              imageUri,
              "no scanner",
              "creating a machine",
              "starting the machine",
              "healthy after",
              "running"
            ]
          ) {
            assert.include(text, part)
          }
        }),
      30_000
    )

    it.effect("gets the customer's environment, and the platform's over it", () =>
      Effect.gen(function*() {
        const deployments = yield* Deployments
        const environment = yield* Environment
        const { as, server } = yield* makeServer()
        const set = (name: string, value: string) => as(environment.set(server.id, { name, value }))
        yield* set("GREETING", "hello \"you\"")
        yield* set("SVC_READY_CONFIG", "{}")
        yield* set("PORT", "1")
        yield* set("SERVER_SUBDOMAIN", "evil")
        const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("healthy") }))
        yield* as(deployments.settled(id))
        const found = JSON.parse(yield* getFrom(id, "/env"))
        assert.deepInclude(found, {
          GREETING: "hello \"you\"",
          SVC_READY_CONFIG: "{}",
          BEHAVIOUR: "healthy",
          PORT: "8080",
          SERVER_SUBDOMAIN: server.subdomain,
          SVC_MCP_PUBLIC_URL: server.publicUrl,
          OAUTH_BASE_URL: "http://localhost:9999",
          AUTO_STOP_SECONDS: "300",
          HEALTH_CHECK_PATH: "/healthz",
          HEALTH_CHECK_TIMEOUT_SECONDS: "5"
        })
        assert.isAbove(found.PLATFORM_MCP_REPLAY_TOKEN.length, 20)
        assert.notProperty(found, "DATABASE_URL")
      }), 30_000)

    it.effect.skipIf(!full)(
      long("excludes another at the same time, whose caller gets 409; the versions have no gap"),
      () =>
        Effect.gen(function*() {
          const deployments = yield* Deployments
          const { as, server } = yield* makeServer()
          const imageUri = yield* appImage("healthy")
          const attempts = yield* Effect.forEach(
            Array.from({ length: 5 }),
            () => as(Effect.either(deployments.deploy(server.id, { imageUri }))),
            { concurrency: "unbounded" }
          )
          const refused = attempts.filter(Either.isLeft).map(({ left }) => left._tag)
          assert.deepStrictEqual(refused, Array.from({ length: 4 }, () => "DeploymentInProgress"))
          const [first] = attempts.filter(Either.isRight)
          yield* as(deployments.settled(first!.right.id))
          const second = yield* as(deployments.deploy(server.id, { imageUri }))
          assert.strictEqual(second.version, 2)
          yield* as(deployments.settled(second.id))
          const { data, meta } = yield* as(deployments.list(server.id, { limit: 1 }))
          assert.deepStrictEqual(data.map(({ version }) => version), [2])
          assert.strictEqual(meta.total, 2)
          const rest = yield* as(deployments.list(server.id, { limit: 1, cursor: meta.cursor! }))
          assert.deepInclude(rest.data[0], { version: 1, status: "running", active: false })
          assert.isFalse(rest.meta.hasMore)
          const machines = yield* Machines
          const left = yield* until(machines.list(server.id), (list) => list.length === 1)
          assert.strictEqual(left[0]!.name, second.id)
        }),
      30_000
    )

    it.effect("goes on when its caller hangs up", () =>
      Effect.gen(function*() {
        const deployments = yield* Deployments
        const { as, server } = yield* makeServer()
        const imageUri = yield* appImage("healthy")
        const call = yield* Effect.fork(as(
          Effect.flatMap(deployments.deploy(server.id, { imageUri }), ({ id }) => deployments.settled(id))
        ))
        yield* until(as(deployments.list(server.id, { limit: 1 })), ({ data }) => data.length === 1)
        yield* Fiber.interrupt(call)
        const { data } = yield* until(as(deployments.list(server.id, { limit: 1 })), ({ data }) =>
          data[0]?.active === true)
        assert.strictEqual(data[0]!.status, "running")
      }), 30_000)

    it.effect.skipIf(!full)(
      long("ends quietly, and leaves no machine, when its server is deleted meanwhile"),
      () =>
        Effect.gen(function*() {
          const deployments = yield* Deployments
          const machines = yield* Machines
          const { as, server } = yield* makeServer()
          const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("silent") }))
          yield* until(machines.list(server.id), (list) => list[0]?.status === "running")
          const waiting = yield* Effect.fork(as(Effect.flip(deployments.settled(id))))
          yield* as(Effect.flatMap(Servers, (servers) => servers.remove(server.id)))
          assert.strictEqual((yield* Fiber.join(waiting))._tag, "DeploymentNotFound")
          yield* Effect.sleep("6 seconds")
          assert.deepStrictEqual(yield* machines.list(server.id), [])
        }),
      30_000
    )

    it.effect("is the business of its owner only", () =>
      Effect.gen(function*() {
        const deployments = yield* Deployments
        const { actor, as, server } = yield* makeServer()
        const imageUri = yield* appImage("healthy")
        const stranger = asActor(yield* makeActor())
        const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.map(Effect.flip(effect), ({ _tag }) => _tag)
        assert.strictEqual(yield* stranger(tagOf(deployments.deploy(server.id, { imageUri }))), "ServerNotFound")
        assert.strictEqual(yield* stranger(tagOf(deployments.list(server.id, { limit: 1 }))), "ServerNotFound")
        const { id } = yield* as(deployments.deploy(server.id, { imageUri }))
        assert.strictEqual(yield* stranger(tagOf(deployments.get(server.id, id))), "DeploymentNotFound")
        assert.strictEqual(yield* stranger(tagOf(deployments.settled(id))), "DeploymentNotFound")
        assert.strictEqual(yield* stranger(tagOf(Stream.runDrain(deployments.progress(id)))), "DeploymentNotFound")
        const reader = asActor({
          ...actor,
          credential: {
            kind: "key",
            id: "key",
            projectId: server.projectId,
            environment: "live",
            scopes: new Set(["deployments:read"] as const)
          }
        })
        assert.strictEqual(yield* reader(tagOf(deployments.deploy(server.id, { imageUri }))), "Forbidden")
        assert.strictEqual((yield* reader(deployments.settled(id))).status, "running")
      }), 30_000)
  },
  { AUTH_URL: "http://localhost:9999" }
)

describe("the input", () => {
  it("is an image address to the letter of its grammar", () => {
    const decode = Schema.decodeUnknownEither(DeployInput)
    for (const imageUri of ["nginx", "ghcr.io/a/b:1", "localhost:5000/x@sha256:" + "a".repeat(64), "oci:/some/where"]) {
      assert.isTrue(Either.isRight(decode({ imageUri })), imageUri)
    }
    for (const imageUri of ["", " ", "UPPER/case", "a b", "http://x/y", "x@sha256:1", "a\u0000b", "-x", 1, null]) {
      assert.isTrue(Either.isLeft(decode({ imageUri })), String(imageUri))
    }
    assert.isTrue(Either.isLeft(decode({ imageUri: "nginx", more: 1 })))
  })
})
