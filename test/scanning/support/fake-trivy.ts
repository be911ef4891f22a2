import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryDirectory } from "../../support/Settings.ts"

/** A report as Trivy writes it, with fields that nobody reads. */
export const report = (vulnerabilities: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  JSON.stringify({
    SchemaVersion: 2,
    CreatedAt: "2026-01-01T00:00:00Z",
    ArtifactName: "image",
    ArtifactType: "container_image",
    Metadata: { OS: { Family: "debian", Name: "12.5" } },
    Results: [
      { Target: "image (debian 12.5)", Class: "os-pkgs", Type: "debian", Vulnerabilities: vulnerabilities },
      { Target: "Node.js", Class: "lang-pkgs", Type: "node-pkg" }
    ]
  })

/** A program named trivy in a folder of its own: it notes how it was run, and does what the test says. */
export class FakeTrivy {
  readonly folder = temporaryDirectory("trivy")
  readonly #report = join(this.folder, "report.json")
  readonly #notes = join(this.folder, "notes")

  constructor() {
    this.does()
  }

  prints = (text: string) => {
    writeFileSync(this.#report, text)
    this.does()
  }

  /** In place of printing the report. */
  does = (commands = `cat ${this.#report}`) => {
    const program = join(this.folder, "trivy")
    const script = [
      `echo "$@" >> ${this.#notes}`,
      `cat image/index.json image/oci-layout >> ${this.#notes}`,
      `ls image/blobs/sha256/ > /dev/null || exit 9`,
      `env >> ${this.#notes}`
    ]
    writeFileSync(program, ["#!/bin/sh", ...script, commands, ""].join("\n"))
    chmodSync(program, 0o755)
  }

  /** What it noted of all its runs. */
  get notes() {
    return existsSync(this.#notes) ? readFileSync(this.#notes, "utf8") : ""
  }

  get path() {
    return `${this.folder}:/usr/bin:/bin`
  }
}
