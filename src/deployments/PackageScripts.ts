import { CurrentSettings } from "#src/config/Settings.ts"
import { type ImageError, imageError } from "#src/images/ImageError.ts"
import { type MachineError, Machines } from "#src/machines/Machines.ts"
import { type RunScripts, scriptFailure } from "#src/packages/scripts.ts"
import { Effect } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { linesSoFar } from "./last-words.ts"
import { makeMachineEnd } from "./machine-end.ts"
import { MachineOutput } from "./MachineOutput.ts"

/** Half of it is room for what the scripts write, and as much again for /tmp. */
const memoryMb = 1024
const pause = "100 millis"

const asImageError = ({ message }: MachineError) =>
  imageError("storage", `the machine of the install scripts: ${message}`)

/**
 * Runs the install scripts of packages, each time in a machine made for it: isolated as the server's own, with nothing
 * of its variables, and with its egress.
 */
export class PackageScripts extends Effect.Service<PackageScripts>()("deployments/PackageScripts", {
  effect: Effect.gen(function*() {
    const { packageScriptsSeconds } = yield* CurrentSettings
    const machines = yield* Machines
    const output = yield* MachineOutput
    const { destroy } = yield* makeMachineEnd
    /** Machines of this process. One of before a crash is not among them. */
    const running = new Set<string>()

    const failure = Effect.fnUntraced(function*(name: string, reason: ImageError["reason"], what: string) {
      const lines = yield* linesSoFar(machines, name)
      return yield* imageError(reason, scriptFailure(lines.map(({ text }) => text), what))
    })

    const ended = (name: string, code: number | null) =>
      failure(
        name,
        "invalid_image",
        code === 137
          ? `ended by SIGKILL, as it does beyond ${memoryMb} MB of memory`
          : `failed with exit code ${code ?? "unknown"}`
      )

    const run = (name: string, serverId: string): RunScripts => (machine, take) => {
      const untilTaken = Effect.gen(function*() {
        for (;;) {
          const state = yield* Effect.mapError(machines.inspect(name), asImageError)
          if (state === undefined) return yield* imageError("not_found", "the machine of the install scripts is gone")
          if (state.status === "exited") return yield* ended(name, state.exitCode)
          if (yield* take(state.address)) return
          yield* Effect.sleep(pause)
        }
      })
      const start = Effect.gen(function*() {
        // One of the same deployment that a crash left would be adopted, with its old files.
        yield* destroy(name, 0)
        yield* machines.provision({ name, owner: serverId, ...machine, env: {}, cpu: "shared-1x", memoryMb })
        yield* output.follow(name, serverId)
        yield* machines.start(name)
      }).pipe(Effect.mapError(asImageError))
      const whole = Effect.zipRight(start, untilTaken).pipe(
        Effect.timeoutOption(`${packageScriptsSeconds} seconds`),
        Effect.flatMap((taken) =>
          taken._tag === "Some"
            ? Effect.void
            : failure(
              name,
              "too_large",
              `took longer than the ${packageScriptsSeconds} seconds of PACKAGE_SCRIPTS_SECONDS`
            )
        )
      )
      return Effect.acquireUseRelease(
        Effect.sync(() => running.add(name)),
        () => whole,
        () =>
          Effect.catchAll(destroy(name, 0), (error) => Effect.logWarning(`${name} is left for the reconciler`, error))
            .pipe(
              Effect.ensuring(Effect.sync(() => running.delete(name)))
            )
      )
    }

    return {
      /** How a deployment's install scripts are run; undefined when it doesn't want them to be. */
      of: ({ id, packageScripts, serverId }: DeploymentRow): RunScripts | undefined =>
        packageScripts ? run(`${id}.scripts`, serverId) : undefined,
      /** Whether a machine is one of these, at work now. */
      isRunning: (name: string) => running.has(name)
    } as const
  })
}) {}
