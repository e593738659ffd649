// What the layers of the digits models cost in bare oneDNN, one example at a time: primitives made
// once, weights in the library's own layouts, nothing around them. The yardstick for `weir run
// --loop`. Prints one line a model: the median over runs, in microseconds an example.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <dnnl.hpp>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Tag = memory::format_tag;

memory::desc F32(const memory::dims& dims, Tag tag) {
  return memory::desc(dims, memory::data_type::f32, tag);
}

// A chain of primitives, each reading what the one before wrote.
class Chain {
 public:
  Chain() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  void Input(const memory::dims& dims, Tag tag) { current_ = Filled(F32(dims, tag)); }
  const memory::desc Current() const { return current_.get_desc(); }

  void ConvolveWithRelu(int in, int out, int size) {
    const memory::desc filters = F32({out, in, 3, 3}, Tag::any), bias = F32({out}, Tag::x);
    const dnnl::convolution_forward::desc layer(
        prop_kind::forward_inference, algorithm::convolution_direct, Current(), filters, bias,
        F32({1, out, size, size}, Tag::any), {1, 1}, {1, 1}, {1, 1});
    const dnnl::convolution_forward::primitive_desc made(layer, Relu(), engine_);
    Add(dnnl::convolution_forward(made), made.dst_desc(),
        {{DNNL_ARG_WEIGHTS, made.weights_desc()}, {DNNL_ARG_BIAS, bias}});
  }

  void MaxPool(int channels, int size) {
    const dnnl::pooling_forward::desc layer(prop_kind::forward_inference, algorithm::pooling_max,
                                            Current(), F32({1, channels, size, size}, Tag::any),
                                            {2, 2}, {2, 2}, {0, 0}, {0, 0});
    const dnnl::pooling_forward::primitive_desc made(layer, engine_);
    Add(dnnl::pooling_forward(made), made.dst_desc(), {});
  }

  // `weights`: the extents of one output's weights.
  void Dense(memory::dims weights, int out, const dnnl::primitive_attr& epilogue = {}) {
    weights.insert(weights.begin(), out);
    const memory::desc bias = F32({out}, Tag::x);
    const dnnl::inner_product_forward::desc layer(prop_kind::forward_inference, Current(),
                                                  F32(weights, Tag::any), bias,
                                                  F32({1, out}, Tag::nc));
    const dnnl::inner_product_forward::primitive_desc made(layer, epilogue, engine_);
    Add(dnnl::inner_product_forward(made), made.dst_desc(),
        {{DNNL_ARG_WEIGHTS, made.weights_desc()}, {DNNL_ARG_BIAS, bias}});
  }

  // All steps in one primitive; leaves the last hidden state as the current memory.
  void Lstm(int steps, int in, int hidden) {
    const memory::desc weights = F32({1, 1, in, 4, hidden}, Tag::any);
    const memory::desc recurrent = F32({1, 1, hidden, 4, hidden}, Tag::any);
    const memory::desc bias = F32({1, 1, 4, hidden}, Tag::ldgo);
    const memory::desc state = F32({1, 1, 1, hidden}, Tag::ldnc);
    const dnnl::lstm_forward::desc layer(
        prop_kind::forward_inference, dnnl::rnn_direction::unidirectional_left2right, Current(),
        state, state, weights, recurrent, bias, F32({steps, 1, hidden}, Tag::tnc), state, state);
    const dnnl::lstm_forward::primitive_desc made(layer, engine_);
    Step step{dnnl::lstm_forward(made), {{DNNL_ARG_SRC_LAYER, current_}}};
    for (const auto& [argument, desc] : std::vector<std::pair<int, memory::desc>>{
             {DNNL_ARG_SRC_ITER, state},
             {DNNL_ARG_SRC_ITER_C, state},
             {DNNL_ARG_WEIGHTS_LAYER, made.weights_layer_desc()},
             {DNNL_ARG_WEIGHTS_ITER, made.weights_iter_desc()},
             {DNNL_ARG_BIAS, bias},
             {DNNL_ARG_DST_LAYER, made.dst_layer_desc()},
             {DNNL_ARG_DST_ITER, state},
             {DNNL_ARG_DST_ITER_C, state}}) {
      step.arguments.emplace(argument, Filled(desc));
    }
    const memory last = step.arguments.at(DNNL_ARG_DST_ITER);
    steps_.push_back(std::move(step));
    current_ = memory(F32({1, hidden}, Tag::nc), engine_, last.get_data_handle());
    kept_.push_back(last);
  }

  static dnnl::primitive_attr Relu() {
    dnnl::post_ops ops;
    ops.append_eltwise(1.0f, algorithm::eltwise_relu, 0, 0);
    dnnl::primitive_attr attr;
    attr.set_post_ops(ops);
    return attr;
  }

  // Returns: median microseconds of one pass.
  double Measure() {
    constexpr int kRuns = 31, kPasses = 500;
    std::vector<double> micros;
    for (int run = 0; run < kRuns; ++run) {
      const auto start = std::chrono::steady_clock::now();
      for (int pass = 0; pass < kPasses; ++pass) {
        for (Step& step : steps_) step.primitive.execute(stream_, step.arguments);
      }
      stream_.wait();
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - start;
      micros.push_back(took.count() / kPasses);
    }
    std::nth_element(micros.begin(), micros.begin() + kRuns / 2, micros.end());
    return micros[kRuns / 2];
  }

 private:
  struct Step {
    dnnl::primitive primitive;
    std::unordered_map<int, memory> arguments;
  };

  memory Filled(const memory::desc& desc) {
    memory made(desc, engine_);
    float* values = static_cast<float*>(made.get_data_handle());
    std::uniform_real_distribution<float> between(-0.5f, 0.5f);
    std::generate(values, values + desc.get_size() / sizeof(float),
                  [&] { return between(random_); });
    return made;
  }

  void Add(dnnl::primitive primitive, const memory::desc& out,
           const std::vector<std::pair<int, memory::desc>>& constants) {
    Step step{std::move(primitive), {{DNNL_ARG_SRC, current_}}};
    for (const auto& [argument, desc] : constants) step.arguments.emplace(argument, Filled(desc));
    current_ = memory(out, engine_);
    step.arguments.emplace(DNNL_ARG_DST, current_);
    steps_.push_back(std::move(step));
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  std::mt19937 random_{1};
  memory current_;
  std::vector<memory> kept_;
  std::vector<Step> steps_;
};

double MeasureCnn() {
  Chain chain;
  chain.Input({1, 1, 8, 8}, Tag::nchw);
  chain.ConvolveWithRelu(1, 16, 8);
  chain.MaxPool(16, 4);
  chain.ConvolveWithRelu(16, 32, 4);
  chain.MaxPool(32, 2);
  chain.Dense({32, 2, 2}, 64, Chain::Relu());
  chain.Dense({64}, 10);
  return chain.Measure();
}

double MeasureLstm() {
  Chain chain;
  chain.Input({8, 1, 8}, Tag::tnc);
  chain.Lstm(/*steps=*/8, /*in=*/8, /*hidden=*/32);
  chain.Dense({32}, 10);
  return chain.Measure();
}

}  // namespace

int main() {
  omp_set_num_threads(1);
  std::printf("bare oneDNN, batch 1, cnn:  %.2f us an example\n", MeasureCnn());
  std::printf("bare oneDNN, batch 1, lstm: %.2f us an example\n", MeasureLstm());
  return 0;
}
