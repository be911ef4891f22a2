import { Layer } from "effect"
import { BusinessFeed } from "./BusinessFeed.ts"
import { BusinessFeedRepo } from "./BusinessFeedRepo.ts"
import { BusinessSearch } from "./BusinessSearch.ts"
import { PublicBusinesses } from "./PublicBusinesses.ts"
import { PublicBusinessesRepo } from "./PublicBusinessesRepo.ts"
import { Sitemaps } from "./Sitemaps.ts"
import { SitemapsRepo } from "./SitemapsRepo.ts"

export const SyndicationLive = Layer.mergeAll(
  Layer.provide(BusinessFeed.Default, BusinessFeedRepo.Default),
  Layer.provide(Sitemaps.Default, SitemapsRepo.Default),
  Layer.provide(Layer.merge(BusinessSearch.Default, PublicBusinesses.Default), PublicBusinessesRepo.Default)
)
