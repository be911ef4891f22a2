import { Layer } from "effect"
import { ScannerLive } from "./ScannerLive.ts"
import { Scans } from "./Scans.ts"
import { ScansRepo } from "./ScansRepo.ts"

export const ScanningLive = Layer.merge(Layer.provide(Scans.Default, ScansRepo.Default), ScannerLive)
