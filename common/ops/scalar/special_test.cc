// The special functions against values of 20 digits from arbitrary-precision arithmetic, and where
// they are infinite, not defined or at the end of a range.
#include <cmath>

#include "common/ops/scalar/bessel.h"
#include "common/ops/scalar/bessel_modified.h"
#include "common/ops/scalar/fresnel.h"
#include "common/ops/scalar/incomplete_beta.h"
#include "common/ops/scalar/incomplete_gamma.h"
#include "common/ops/scalar/integrals.h"
#include "common/ops/scalar/normal.h"
#include "common/ops/scalar/zeta.h"
#include "gtest/gtest.h"

namespace weir::scalar {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

// The overload for double of a function that is inlined everywhere else.
#define Wide(Function) [](double x) { return Function(x); }

struct UnaryValue {
  const char* name;
  Unary function;
  double x;
  double want;
};
struct BinaryValue {
  const char* name;
  Binary function;
  double x;
  double y;
  double want;
};
struct BetaValue {
  double a;
  double b;
  double x;
  double want;
};

constexpr double kUlp = 0x1p-52;

constexpr UnaryValue kUnaryValues[] = {
    {"BesselI0", Wide(BesselI0), -3, 4.8807925858650240856},
    {"BesselI0", Wide(BesselI0), 0.5, 1.0634833707413235193},
    {"BesselI0", Wide(BesselI0), 7.75, 338.51375374727594515},
    {"BesselI0", Wide(BesselI0), 8.5, 683.16192699011560928},
    {"BesselI0", Wide(BesselI0), 40, 14894774793419899.924},
    {"BesselI1", Wide(BesselI1), -3, -3.9533702174026093965},
    {"BesselI1", Wide(BesselI1), 0.5, 0.25789430539089631636},
    {"BesselI1", Wide(BesselI1), 7.75, 315.8524809240034021},
    {"BesselI1", Wide(BesselI1), 8.5, 641.6199025400667608},
    {"BesselI1", Wide(BesselI1), 40, 14707396163259352.739},
    {"BesselI0e", Wide(BesselI0e), -3, 0.24300035416182539847},
    {"BesselI0e", Wide(BesselI0e), 0.5, 0.64503527044915006811},
    {"BesselI0e", Wide(BesselI0e), 8.5, 0.13900184305484759682},
    {"BesselI0e", Wide(BesselI0e), 1000, 0.012617240455891256586},
    {"BesselI1e", Wide(BesselI1e), -3, -0.19682671329730085363},
    {"BesselI1e", Wide(BesselI1e), 0.5, 0.15642080318487169714},
    {"BesselI1e", Wide(BesselI1e), 8.5, 0.13054935509459585509},
    {"BesselI1e", Wide(BesselI1e), 1000, 0.01261093025692862947},
    {"BesselK0", Wide(BesselK0), 1e-05, 11.628856980944362212},
    {"BesselK0", Wide(BesselK0), 0.5, 0.92441907122766586178},
    {"BesselK0", Wide(BesselK0), 1.5, 0.21380556264752573672},
    {"BesselK0", Wide(BesselK0), 40, 8.3928611000995670337e-19},
    {"BesselK1", Wide(BesselK1), 1e-05, 99999.999939355706916},
    {"BesselK1", Wide(BesselK1), 0.5, 1.6564411200033008937},
    {"BesselK1", Wide(BesselK1), 1.5, 0.27738780045684381609},
    {"BesselK1", Wide(BesselK1), 40, 8.4971319548610386508e-19},
    {"BesselK0e", Wide(BesselK0e), 0.5, 1.52410938577390953},
    {"BesselK0e", Wide(BesselK0e), 1.5, 0.95821005329489649642},
    {"BesselK0e", Wide(BesselK0e), 1000, 0.039628321600754217115},
    {"BesselK1e", Wide(BesselK1e), 0.5, 2.7310097082117857054},
    {"BesselK1e", Wide(BesselK1e), 1.5, 1.2431658735525529948},
    {"BesselK1e", Wide(BesselK1e), 1000, 0.03964813081296021048},
    {"BesselJ0", Wide(BesselJ0), -1, 0.76519768655796655145},
    {"BesselJ0", Wide(BesselJ0), 2.5, -0.048383776468197996327},
    {"BesselJ0", Wide(BesselJ0), 4.875, -0.21755935940797099501},
    {"BesselJ0", Wide(BesselJ0), 6.25, 0.21309005307666072732},
    {"BesselJ0", Wide(BesselJ0), 30, -0.086367983581040211336},
    {"BesselJ1", Wide(BesselJ1), -1, -0.44005058574493351596},
    {"BesselJ1", Wide(BesselJ1), 2.5, 0.49709410246427403801},
    {"BesselJ1", Wide(BesselJ1), 4.875, -0.31095346151845217221},
    {"BesselJ1", Wide(BesselJ1), 6.25, -0.22072087753923726997},
    {"BesselJ1", Wide(BesselJ1), 30, -0.11875106261662293652},
    {"BesselY0", Wide(BesselY0), 1e-05, -7.4031602837019700805},
    {"BesselY0", Wide(BesselY0), 0.5, -0.44451873350670655715},
    {"BesselY0", Wide(BesselY0), 2.5, 0.49807035961523188783},
    {"BesselY0", Wide(BesselY0), 6.25, -0.23693546237904966362},
    {"BesselY0", Wide(BesselY0), 30, -0.11729573168666402525},
    {"BesselY1", Wide(BesselY1), 1e-05, -63661.97727536547995},
    {"BesselY1", Wide(BesselY1), 0.5, -1.4714723926702430692},
    {"BesselY1", Wide(BesselY1), 1.5, -0.41230862697391129595},
    {"BesselY1", Wide(BesselY1), 6.25, -0.23258974169251220777},
    {"BesselY1", Wide(BesselY1), 30, 0.084425570661747234891},
    {"Expint", Wide(Expint), -20, -9.8355252906498816904e-11},
    {"Expint", Wide(Expint), -2, -0.048900510708061119567},
    {"Expint", Wide(Expint), -0.5, -0.55977359477616081175},
    {"Expint", Wide(Expint), 1e-05, -10.935699800043695422},
    {"Expint", Wide(Expint), 1.5, 3.301285449129797838},
    {"Expint", Wide(Expint), 8, 440.379899534838269},
    {"Expint", Wide(Expint), 16, 595560.99867083700185},
    {"Expint", Wide(Expint), 30, 368973209407.27419706},
    {"Expint", Wide(Expint), 300, 6.496482508088665789e+127},
    {"Dawsn", Wide(Dawsn), -0.5, -0.42443638350202229593},
    {"Dawsn", Wide(Dawsn), 1, 0.53807950691276841914},
    {"Dawsn", Wide(Dawsn), 2.25, 0.25655426284484915462},
    {"Dawsn", Wide(Dawsn), 4, 0.12934800123600511559},
    {"Dawsn", Wide(Dawsn), 8, 0.063000198707553387919},
    {"Spence", Wide(Spence), 0.125, 1.2381234817964802347},
    {"Spence", Wide(Spence), 0.75, 0.26765263908273260692},
    {"Spence", Wide(Spence), 1.5, -0.44841420692364620244},
    {"Spence", Wide(Spence), 3, -1.4367463668836809464},
    {"Spence", Wide(Spence), 1000, -25.49556410242890879},
    {"FresnelSin", Wide(FresnelSin), -0.5, -0.064732432859999277611},
    {"FresnelSin", Wide(FresnelSin), 1.25, 0.65865551163667913056},
    {"FresnelSin", Wide(FresnelSin), 2, 0.3434156783636982422},
    {"FresnelSin", Wide(FresnelSin), 3.5, 0.4152480119724375239},
    {"FresnelSin", Wide(FresnelSin), 20, 0.48408453592595389271},
    {"FresnelCos", Wide(FresnelCos), -0.5, -0.49234422587144639288},
    {"FresnelCos", Wide(FresnelCos), 1.25, 0.68009074107545508367},
    {"FresnelCos", Wide(FresnelCos), 2, 0.4882534060753407545},
    {"FresnelCos", Wide(FresnelCos), 3.5, 0.53257243502800084533},
    {"FresnelCos", Wide(FresnelCos), 20, 0.49998733497234438819},
    {"Ndtri", Wide(Ndtri), 1e-10, -6.3613409024040561991},
    {"Ndtri", Wide(Ndtri), 0.0078125, -2.4175590162365050618},
    {"Ndtri", Wide(Ndtri), 0.25, -0.6744897501960817432},
    {"Ndtri", Wide(Ndtri), 0.75, 0.6744897501960817432},
    {"Ndtri", Wide(Ndtri), 0.9921875, 2.4175590162365050618},
};

TEST(SpecialTest, OfOneOperand) {
  for (const UnaryValue& v : kUnaryValues) {
    EXPECT_NEAR(v.function(v.x), v.want, 8 * kUlp * std::fabs(v.want))
        << v.name << "(" << v.x << ")";
  }
}

TEST(SpecialTest, OfTwoOperands) {
  const BinaryValue values[] = {
      {"Igamma", Igamma, 0.5, 0.25, 0.52049987781304653768},
      {"Igamma", Igamma, 2, 7, 0.99270494427556387034},
      {"Igamma", Igamma, 30, 28, 0.3773896943143976363},
      {"Igamma", Igamma, 30, 10, 2.5099512015279078234e-7},
      {"Igamma", Igamma, 200, 210, 0.76396967450115385408},
      {"Igamma", Igamma, 10000.0, 10000.0, 0.50132980833995520038},
      {"Igammac", Igammac, 0.0625, 0.25, 0.065358447552772652875},
      {"Igammac", Igammac, 2, 7, 0.007295055724436129664},
      {"Igammac", Igammac, 30, 28, 0.6226103056856023637},
      {"Igammac", Igammac, 30, 60, 6.8762649687320966864e-6},
      {"Igammac", Igammac, 200, 210, 0.23603032549884614592},
      {"Igammac", Igammac, 10000.0, 10200, 0.023287322133598803947},
      {"Zeta", Zeta, 2, 1, 1.6449340668482264365},
      {"Zeta", Zeta, 1.5, 0.25, 10.213055360466600739},
      {"Zeta", Zeta, 3, 10, 0.0055249174854010337311},
      {"Zeta", Zeta, 20, 1.5, 0.0003007396681671843484},
      {"Zeta", Zeta, 40, 30, 1.1325911456066117037e-59},
      {"Polygamma", Polygamma, 0, 2.5, 0.70315664064524318723},
      {"Polygamma", Polygamma, 1, 0.25, 17.197329154507110739},
      {"Polygamma", Polygamma, 2, 3, -0.1541138063191885708},
      {"Polygamma", Polygamma, 5, 40, 2.4938943509996702254e-7},
      {"Polygamma", Polygamma, 20, 1.5, -487772949462609.87364},
  };
  for (const BinaryValue& v : values) {
    EXPECT_NEAR(v.function(v.x, v.y), v.want, 40 * kUlp * std::fabs(v.want))
        << v.name << "(" << v.x << ", " << v.y << ")";
  }
}

TEST(SpecialTest, IncompleteBeta) {
  const BetaValue values[] = {
      {0.5, 0.5, 0.25, 0.33333333333333333333}, {2, 3, 0.5, 0.6875},
      {10, 0.25, 0.9, 0.066431916506144099245}, {100, 120, 0.45, 0.44780123014770762084},
      {1000, 5, 0.99, 0.027948558419431031983}, {0.001, 2, 0.5, 0.99980674653694774818},
  };
  for (const BetaValue& v : values) {
    EXPECT_NEAR(Betainc(v.a, v.b, v.x), v.want, 100 * kUlp * v.want) << v.a << " " << v.b;
    EXPECT_NEAR(Betainc(v.b, v.a, 1 - v.x), 1 - v.want, 4e-14) << v.a << " " << v.b;
  }
  EXPECT_EQ(Betainc(2.0, 3.0, 0.0), 0);
  EXPECT_EQ(Betainc(2.0, 3.0, 1.0), 1);
  EXPECT_TRUE(std::isnan(Betainc(0.0, 3.0, 0.5)));
  EXPECT_TRUE(std::isnan(Betainc(2.0, 3.0, 1.5)));
  EXPECT_TRUE(std::isnan(Betainc(kNaN<double>, 3.0, 0.5)));
}

// The pieces of a function meet where one gives way to the other.
TEST(SpecialTest, BandsMeet) {
  const auto expect = [](const char* name, Unary function, std::initializer_list<double> bounds) {
    for (double x : bounds) {
      const double below = function(std::nextafter(x, -INFINITY)), at = function(x);
      const double above = function(std::nextafter(x, INFINITY));
      EXPECT_NEAR(below, at, 30 * kUlp * (std::fabs(at) + 0.1)) << name << " below " << x;
      EXPECT_NEAR(above, at, 30 * kUlp * (std::fabs(at) + 0.1)) << name << " above " << x;
    }
  };
  expect("i0e", Wide(BesselI0e), {8});
  expect("i1e", Wide(BesselI1e), {8});
  expect("k0e", Wide(BesselK0e), {1});
  expect("k1e", Wide(BesselK1e), {1});
  expect("j0", Wide(BesselJ0), {5});
  expect("j1", Wide(BesselJ1), {5});
  expect("y0", Wide(BesselY0), {5});
  expect("y1", Wide(BesselY1), {5});
  expect("expint", Wide(Expint), {-3, -1, 6});
  expect("dawsn", Wide(Dawsn), {1.5, 3, 6});
  expect("spence", Wide(Spence), {0.5, 2});
  expect("fresnel_sin", Wide(FresnelSin), {1.6, 2.8284271247461903});
  expect("fresnel_cos", Wide(FresnelCos), {1.6, 2.8284271247461903});
  expect("ndtri", Wide(Ndtri), {0.02, 0.98});
}

TEST(SpecialTest, EndsOfBesselFunctions) {
  constexpr double kInfinity = kInf<double>;
  EXPECT_EQ(BesselI0(kInfinity), kInfinity);
  EXPECT_EQ(BesselI1(-kInfinity), -kInfinity);
  EXPECT_EQ(BesselI0e(kInfinity), 0);
  EXPECT_TRUE(std::isfinite(BesselI0(713.0)));
  EXPECT_EQ(BesselK0(0.0), kInfinity);
  EXPECT_EQ(BesselK1(0.0), kInfinity);
  EXPECT_EQ(BesselK1(kInfinity), 0);
  EXPECT_TRUE(std::isnan(BesselK0(-1.0)));
  EXPECT_EQ(BesselJ0(-kInfinity), 0);
  EXPECT_EQ(BesselY0(0.0), -kInfinity);
  EXPECT_EQ(BesselY1(0.0), -kInfinity);
  EXPECT_EQ(BesselY1(kInfinity), 0);
  EXPECT_TRUE(std::isnan(BesselY1(-1.0)));
}

TEST(SpecialTest, EndsOfIntegrals) {
  constexpr double kInfinity = kInf<double>;
  EXPECT_EQ(Expint(0.0), -kInfinity);
  EXPECT_EQ(Expint(kInfinity), kInfinity);
  EXPECT_EQ(Expint(-kInfinity), 0);
  EXPECT_EQ(Dawsn(kInfinity), 0);
  EXPECT_EQ(Spence(1.0), 0);
  EXPECT_EQ(Spence(kInfinity), -kInfinity);
  EXPECT_TRUE(std::isnan(Spence(-1.0)));
  EXPECT_EQ(FresnelSin(-kInfinity), -0.5);
  EXPECT_EQ(FresnelCos(1e200), 0.5);
  EXPECT_EQ(Ndtri(0.0), -kInfinity);
  EXPECT_EQ(Ndtri(1.0), kInfinity);
  EXPECT_EQ(Ndtri(0.5), 0);
  EXPECT_TRUE(std::isnan(Ndtri(1.5)));
}

TEST(SpecialTest, EndsOfGammaFunctions) {
  constexpr double kInfinity = kInf<double>;
  EXPECT_EQ(Igamma(0.0, 1.0), 1);
  EXPECT_EQ(Igamma(1.0, 0.0), 0);
  EXPECT_EQ(Igamma(1.0, kInfinity), 1);
  EXPECT_EQ(Igammac(kInfinity, 1.0), 1);
  EXPECT_TRUE(std::isnan(Igamma(0.0, 0.0)));
  EXPECT_TRUE(std::isnan(Igamma(-1.0, 1.0)));
  EXPECT_EQ(Zeta(1.0, 2.0), kInfinity);
  EXPECT_EQ(Zeta(2.0, -3.0), kInfinity);
  EXPECT_EQ(Zeta(2.0, kInfinity), 0);
  EXPECT_TRUE(std::isnan(Zeta(0.5, 2.0)));
  EXPECT_TRUE(std::isnan(Polygamma(1.5, 2.0)));
  EXPECT_EQ(Polygamma(1.0, 0.0), kInfinity);
}

#undef Wide

}  // namespace
}  // namespace weir::scalar
