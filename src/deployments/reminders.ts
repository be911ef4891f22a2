import { Option, Stream } from "effect"

interface Told<S> {
  readonly last: S | undefined
  /** Ticks since it was told. */
  readonly ticks: number
}

const next = <S extends { readonly message: string }>(
  { last, ticks }: Told<S>,
  news: S | undefined,
  seconds: number
) => {
  if (news !== undefined) return [{ last: news, ticks: 0 }, Option.some(news)] as const
  if (last === undefined) return [{ last, ticks }, Option.none<S>()] as const
  const waited = ticks + 1
  // The first tick may come right after what it would repeat.
  const told = waited === 1
    ? Option.none<S>()
    : Option.some({ ...last, message: `${last.message} (for ${ticks * seconds} s)` })
  return [{ last, ticks: waited }, told] as const
}

/** Repeats what was reported last, where nothing follows for so long: clients give up on silence. */
export const remindingEvery =
  (seconds: number) =>
  <S extends { readonly message: string }, E, R>(steps: Stream.Stream<S, E, R>): Stream.Stream<S, E, R> =>
    Stream.merge(steps, Stream.as(Stream.tick(seconds * 1_000), undefined), { haltStrategy: "left" }).pipe(
      Stream.mapAccum(
        { last: undefined, ticks: 0 } as Told<S>,
        (told, news: S | undefined): readonly [Told<S>, Option.Option<S>] => next(told, news, seconds)
      ),
      Stream.filterMap((report) => report)
    )
