package metrics

import (
	"maps"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
)

// exported converts gathered metrics to OpenTelemetry's form, by its rules for Prometheus: a counter is a monotonic
// sum, sums and histograms are cumulative from the start, and a bucket counts only its own range.
func exported(families []*dto.MetricFamily, labels map[string]string, from,
	to time.Time) *collector.ExportMetricsServiceRequest {
	scope := &otlp.ScopeMetrics{Scope: &common.InstrumentationScope{Name: "plimsoll/lab/metrics"}}
	t := span{uint64(from.UnixNano()), uint64(to.UnixNano())}
	for _, f := range families {
		scope.Metrics = append(scope.Metrics, t.metric(f))
	}
	return &collector.ExportMetricsServiceRequest{ResourceMetrics: []*otlp.ResourceMetrics{{
		Resource: &resource.Resource{Attributes: attributes(labels)}, ScopeMetrics: []*otlp.ScopeMetrics{scope},
	}}}
}

// span is the time covered by the figures.
type span struct{ from, to uint64 }

func (t span) metric(f *dto.MetricFamily) *otlp.Metric {
	m := &otlp.Metric{Name: f.GetName(), Description: f.GetHelp()}
	switch f.GetType() {
	case dto.MetricType_COUNTER:
		m.Data = &otlp.Metric_Sum{Sum: &otlp.Sum{
			AggregationTemporality: otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, IsMonotonic: true,
			DataPoints: t.numbers(f, func(m *dto.Metric) float64 { return m.GetCounter().GetValue() }),
		}}
	case dto.MetricType_HISTOGRAM:
		m.Data = &otlp.Metric_Histogram{Histogram: &otlp.Histogram{
			AggregationTemporality: otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
			DataPoints:             t.histograms(f),
		}}
	default: // the collector has no other kinds
		m.Data = &otlp.Metric_Gauge{Gauge: &otlp.Gauge{DataPoints: t.numbers(f, func(m *dto.Metric) float64 {
			return m.GetGauge().GetValue()
		})}}
	}
	return m
}

func (t span) numbers(f *dto.MetricFamily, value func(*dto.Metric) float64) (all []*otlp.NumberDataPoint) {
	for _, m := range f.GetMetric() {
		all = append(all, &otlp.NumberDataPoint{
			Attributes: labels(m), StartTimeUnixNano: t.from, TimeUnixNano: t.to,
			Value: &otlp.NumberDataPoint_AsDouble{AsDouble: value(m)},
		})
	}
	return all
}

func (t span) histograms(f *dto.MetricFamily) (all []*otlp.HistogramDataPoint) {
	for _, m := range f.GetMetric() {
		h := m.GetHistogram()
		point := &otlp.HistogramDataPoint{Attributes: labels(m), StartTimeUnixNano: t.from, TimeUnixNano: t.to,
			Count: h.GetSampleCount(), Sum: h.SampleSum}
		below := uint64(0)
		for _, bucket := range h.GetBucket() {
			point.ExplicitBounds = append(point.ExplicitBounds, bucket.GetUpperBound())
			point.BucketCounts = append(point.BucketCounts, bucket.GetCumulativeCount()-below)
			below = bucket.GetCumulativeCount()
		}
		point.BucketCounts = append(point.BucketCounts, h.GetSampleCount()-below)
		all = append(all, point)
	}
	return all
}

func labels(m *dto.Metric) []*common.KeyValue {
	all := map[string]string{}
	for _, l := range m.GetLabel() {
		all[l.GetName()] = l.GetValue()
	}
	return attributes(all)
}

func attributes(all map[string]string) (list []*common.KeyValue) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, &common.KeyValue{Key: name,
			Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: all[name]}}})
	}
	return list
}
