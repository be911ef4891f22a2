import { type ScanSettings } from "#src/config/scanning.ts"
import { type StoredImages } from "#src/images/StoredImages.ts"
import { Effect } from "effect"
import { type Driver, ScanError } from "../Scanner.ts"
import { readReport } from "./report.ts"
import { runTrivy } from "./run-trivy.ts"

/** Has the program Trivy scan an OCI layout of the image. */
export const trivyDriver = (program: string, { environment, seconds }: ScanSettings, images: StoredImages): Driver => ({
  name: "trivy",
  title: "Trivy",
  scan: Effect.fn("Trivy.scan")(function*(digest: string) {
    const cwd = yield* Effect.mapError(images.layout(digest), ({ message }) => new ScanError({ message }))
    const findings = yield* Effect.flatMap(runTrivy({ program, cwd, env: environment, seconds }), readReport)
    return { findings, notes: [] }
  }, Effect.scoped)
})
