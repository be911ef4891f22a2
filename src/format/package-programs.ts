/** What is executed for each program of a package, interpreter first, by paths of its image. */
export interface Programs {
  /** The one that runs unless another is named. */
  readonly main: string | null
  readonly programs: Readonly<Record<string, ReadonlyArray<string>>>
}
