// VPA's own arithmetic on samples from standard input: its histograms, peaks and estimators, as its recommender
// uses them. A line is a container, seconds since the epoch, cores and bytes, and a last field that is 1 where it
// was killed for memory then; lines come in the order of time. One line of JSON for each container is what it
// recommends, and a last one what that took.
package main

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/logic"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model"
)

type container struct {
	aggregate *model.AggregateContainerState
	state     *model.ContainerState
}

func main() {
	containers := map[string]*container{}
	names := []string{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	var learning time.Duration
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		whole, part := math.Modf(number(fields[1]))
		at := time.Unix(int64(whole), int64(part*1e9)).UTC()
		began := time.Now()
		one := containers[fields[0]]
		if one == nil {
			aggregate := model.NewAggregateContainerState()
			one = &container{aggregate, model.NewContainerState(nil, aggregate)}
			containers[fields[0]] = one
			names = append(names, fields[0])
		}
		add(one, at, model.ResourceCPU, model.CPUAmountFromCores(number(fields[2])))
		memory := model.MemoryAmountFromBytes(number(fields[3]))
		add(one, at, model.ResourceMemory, memory)
		if fields[4] == "1" {
			if err := one.state.RecordOOM(at, memory); err != nil {
				panic(err)
			}
		}
		learning += time.Since(began)
	}
	recommender := logic.CreatePodResourceRecommender(logic.RecommendationConfig{
		SafetyMarginFraction: 0.15, PodMinCPUMillicores: 25, PodMinMemoryMb: 250,
		TargetCPUPercentile: 0.9, LowerBoundCPUPercentile: 0.5, UpperBoundCPUPercentile: 0.95,
		ConfidenceIntervalCPU:  24 * time.Hour,
		TargetMemoryPercentile: 0.9, LowerBoundMemoryPercentile: 0.5, UpperBoundMemoryPercentile: 0.95,
		ConfidenceIntervalMemory: 24 * time.Hour,
	})
	found := make([]logic.RecommendedContainerResources, len(names))
	began := time.Now()
	for at, name := range names {
		each := model.ContainerNameToAggregateStateMap{name: containers[name].aggregate}
		found[at] = recommender.GetRecommendedPodResources(each)[name]
	}
	recommending := time.Since(began)
	began = time.Now()
	size := 0
	for _, name := range names {
		checkpoint, err := containers[name].aggregate.SaveToCheckpoint()
		if err != nil {
			panic(err)
		}
		text, err := json.Marshal(checkpoint)
		if err != nil {
			panic(err)
		}
		size += len(text)
	}
	saving := time.Since(began)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for at, name := range names {
		encode(encoder, map[string]any{
			"container": name, "target": found[at].Target,
			"lower": found[at].LowerBound, "upper": found[at].UpperBound,
		})
	}
	encode(encoder, map[string]any{
		"containers": len(names), "learn_s": learning.Seconds(),
		"recommend_s": recommending.Seconds(), "checkpoint_s": saving.Seconds(),
		"checkpoint_bytes": size, "heap_bytes": memory.HeapAlloc,
	})
}

func add(one *container, at time.Time, resource model.ResourceName, amount model.ResourceAmount) {
	one.state.AddSample(&model.ContainerUsageSample{MeasureStart: at, Usage: amount, Resource: resource})
}

func number(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return value
}

func encode(encoder *json.Encoder, value any) {
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
}
