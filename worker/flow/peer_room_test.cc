#include "worker/flow/peer_room.h"

#include <gtest/gtest.h>

#include "common/flow/flow_text.h"

namespace weir {
namespace {

constexpr char kFlow[] = R"(
flow @ways {
  %in = input() {types = ["i64[]"]}
  %here = inspect(%in)
  %moved = exchange(%here) {keys = 1}
  %all = collect(%moved)
  %out = output(%all)
}
)";

class PeerRoomTest : public ::testing::Test {
 protected:
  VertexId Vertex(std::string_view name) const { return flow_.FindVertex(name); }

  const Flow flow_ = *ParseFlow(kFlow);
};

TEST_F(PeerRoomTest, WhoSendsOverAFullLinkIsHeldUpByItsReader) {
  PeerRoom room(flow_, 0, 3);
  EXPECT_FALSE(room.FullBehind(Vertex("here")).valid());
  room.SetFull(2);
  EXPECT_EQ(room.FullBehind(Vertex("here")), Vertex("moved"));
  EXPECT_FALSE(room.FullBehind(Vertex("in")).valid()) << "its reader is here";
  EXPECT_FALSE(room.FullBehind(Vertex("moved")).valid()) << "all records come together here";
  EXPECT_TRUE(room.SetRoom(1).empty()) << "it was not full";
  EXPECT_EQ(room.FullBehind(Vertex("here")), Vertex("moved"));
  EXPECT_EQ(room.SetRoom(2), std::vector<VertexId>{Vertex("here")});
  EXPECT_FALSE(room.FullBehind(Vertex("here")).valid());
}

TEST_F(PeerRoomTest, WhatGoesToOneWorkerWaitsForThatOne) {
  PeerRoom room(flow_, 1, 3);
  room.SetFull(2);
  EXPECT_FALSE(room.FullBehind(Vertex("moved")).valid());
  room.SetFull(0);
  EXPECT_EQ(room.FullBehind(Vertex("moved")), Vertex("all"));
  EXPECT_EQ(room.SetRoom(0), (std::vector<VertexId>{Vertex("here"), Vertex("moved")}));
  EXPECT_EQ(room.FullBehind(Vertex("here")), Vertex("moved")) << "another one is full still";
}

}  // namespace
}  // namespace weir
